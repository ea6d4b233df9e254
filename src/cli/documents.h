// SPDX-License-Identifier: Apache-2.0
//
// Reads files of objects: YAML with several documents, JSON, or a List, split in the order of the
// file. Each object has its location, for error messages. split_documents() is pure.

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

// Empty documents are skipped but counted. kInvalid names the document.
Result<std::vector<Document>> split_documents(const std::string& file, std::string_view text);

// `name` is a file, "-" for standard input, or a directory: its *.yaml, *.yml and *.json, by name.
Result<std::vector<Document>> read_documents(const std::string& name);

}  // namespace paddle::cli
