// SPDX-License-Identifier: Apache-2.0
#include "api/job_kinds.h"

#include <fstream>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace paddle::api {
namespace {

TEST(JobKinds, EachNameIsReadBackAsItsKind) {
  std::set<std::string> names;
  for (const JobKind kind : kJobKinds) {
    const auto parsed = parse_job_kind(to_string(kind));
    ASSERT_TRUE(parsed) << to_string(kind);
    EXPECT_EQ(*parsed, kind);
    EXPECT_TRUE(names.insert(to_string(kind)).second) << to_string(kind);
  }
  EXPECT_TRUE(parse_job_kind("").is(Code::kInvalid));
  EXPECT_TRUE(parse_job_kind("Sync").is(Code::kInvalid));
}

// First cells of the first table of a document, which are in backticks.
std::vector<std::string> rows_of(const std::string& document) {
  std::ifstream in(std::string(PADDLE_SOURCE_DIR) + "/docs/" + document);
  std::vector<std::string> rows;
  bool in_table = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('|') && in_table) break;
    in_table = line.starts_with('|');
    if (line.starts_with("| `")) rows.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return rows;
}

TEST(JobKinds, EachHasARowInTheDocumentsOfBothLanguages) {
  const std::set<std::string> kinds(kJobKindNames.begin(), kJobKindNames.end());
  for (const char* document : {"en/samplejob.md", "zh_CN/samplejob.md"}) {
    const auto rows = rows_of(document);
    EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()), kinds)
        << "docs/" << document << ": the first table has a row for each kind of job";
    EXPECT_EQ(rows.size(), kinds.size()) << document;
  }
}

}  // namespace
}  // namespace paddle::api
