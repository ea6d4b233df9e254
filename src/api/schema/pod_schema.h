// SPDX-License-Identifier: Apache-2.0
//
// Schemas that are not ours: the pod template and parts of it, as the API server describes them.
// distill_pod_template() makes the schema from the server's OpenAPI document. The result is stored
// in schema/pod_template.json, built into the library, and updated by `make refresh-pod-schema`.
//
// docs/design/0002 explains where the distilled schema differs from the server's.

#pragma once

#include "api/json/json.h"
#include "api/schema/field.h"
#include "base/result.h"

namespace paddle::api {

// The schema of PodTemplateSpec from the document at /openapi/v3/api/v1. kInvalid when it has none.
Result<Json> distill_pod_template(const Json& openapi);

// The built-in one.
const Json& pod_template_schema();

Json foreign_schema(Foreign which);

}  // namespace paddle::api
