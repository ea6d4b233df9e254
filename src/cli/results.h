// SPDX-License-Identifier: Apache-2.0
//
// Combines what a server returned for several requests, so that `get` prints one document, or one
// table for each kind. Pure.

#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>  // KindResult holds one

#include "api/json/json.h"
#include "kube/resource.h"

namespace paddle::cli {

// A response: an object, a list of objects, or a Table, and the kind that was requested.
struct KindResult {
  kube::Resource resource{};
  api::Json content{};
};

// One object or list as it is; several as the items of a v1 List, each with apiVersion and kind
// (typed lists of a server leave them out).
api::Json one_document(std::vector<KindResult> results);

// The rows of all tables beneath the columns of the first.
api::Json merged_table(std::vector<api::Json> tables);

}  // namespace paddle::cli
