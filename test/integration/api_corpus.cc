// SPDX-License-Identifier: Apache-2.0
#include "test/integration/api_corpus.h"

#include <fstream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

namespace paddle::test {
namespace {

using api::Json;

Json built(const Json& entry, const std::map<std::string, Json>& bases) {
  Json object = entry.contains("from") ? bases.at(entry["from"]) : entry["object"];
  if (entry.contains("merge")) object.merge_patch(entry["merge"]);
  if (entry.contains("patch")) object = object.patch(entry["patch"]);
  return object;
}

void read_file(api::Kind kind, std::vector<CorpusCase>& cases) {
  std::ifstream in(std::string(PADDLE_SOURCE_DIR) + "/test/corpus/api/" +
                   api::describe(kind).singular + ".json");
  const auto entries = Json::parse(in);
  std::map<std::string, Json> bases;
  for (const Json& entry : entries) {
    if (entry.contains("base")) {
      bases[entry["base"]] = entry["object"];
      continue;
    }
    CorpusCase one{.kind = kind,
                   .name = entry["case"],
                   .good = entry["good"],
                   .at = entry.value("at", ""),
                   .object = built(entry, bases),
                   .status = entry.value("sub", "") == "status"};
    if (entry.contains("old")) one.old = built(entry["old"], bases);
    cases.push_back(std::move(one));
  }
}

}  // namespace

std::vector<CorpusCase> read_corpus() {
  std::vector<CorpusCase> cases;
  for (const api::Kind kind : api::kAllKinds) read_file(kind, cases);
  return cases;
}

}  // namespace paddle::test
