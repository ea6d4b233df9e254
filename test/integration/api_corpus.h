// SPDX-License-Identifier: Apache-2.0
//
// Reads test/corpus/api. A corpus that cannot be read is an empty list; tests check its size.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/crd/describe.h"
#include "api/json/json.h"

namespace paddle::test {

struct CorpusCase {
  api::Kind kind = api::Kind::kPaddleJob;
  std::string name{};
  bool good = false;
  std::string at{};  // of an invalid one: the path that our validator names first
  api::Opaque object{};
  api::Opaque old{};    // empty: a create
  bool status = false;  // a write to the status subresource
};

std::vector<CorpusCase> read_corpus();

}  // namespace paddle::test
