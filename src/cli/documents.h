// SPDX-License-Identifier: Apache-2.0
//
// Files of objects: YAML with several documents, JSON, or a List of either, taken apart in the
// order written. Each object remembers where it came from, for error messages. split() is pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>  // Document holds one

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::cli {

struct Document {
  std::string where{};  // "train.yaml, document 2"
  api::Json object{};
};

// Empty documents are passed over but counted. kInvalid names the document.
Result<std::vector<Document>> split_documents(const std::string& file, std::string_view text);

// `name` is a file, "-" for standard input, or a directory: its *.yaml, *.yml and *.json, by name.
Result<std::vector<Document>> read_documents(const std::string& name);

}  // namespace paddle::cli
