// SPDX-License-Identifier: Apache-2.0
//
// Schemas that are not ours: the pod template and parts of it, as the API server itself describes
// them. distill() makes the template out of the server's OpenAPI document; the result is kept in
// schema/pod_template.json, built into the library, and refreshed by `make refresh-pod-schema`.
//
// Where the distilled schema departs from the server's, and why, is in docs/design/0002.

#pragma once

#include "api/json/json.h"
#include "api/schema/field.h"
#include "base/result.h"

namespace paddle::api {

// A PodTemplateSpec schema out of the document at /openapi/v3/api/v1. kInvalid when it is not one.
Result<Json> distill_pod_template(const Json& openapi);

// The built-in one.
const Json& pod_template_schema();

Json foreign_schema(Foreign which);

}  // namespace paddle::api
