// SPDX-License-Identifier: Apache-2.0
//
// The limits that every API server sets for objects: the syntax of labels, the size of annotations,
// and the data of ConfigMaps and Secrets. Pure; kInvalid names the field and what is valid.

#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "kube/resource.h"

namespace paddle::local {

// metadata.labels and metadata.annotations.
Result<> check_labels_and_annotations(const api::Json& object);

// data and binaryData of a ConfigMap or Secret: base64 where it must be, and at most 1 MiB in all.
// Other kinds have no such data.
Result<> check_data(const kube::Resource& resource, const api::Json& object);

}  // namespace paddle::local
