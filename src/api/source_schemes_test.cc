// SPDX-License-Identifier: Apache-2.0
#include "api/source_schemes.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

namespace paddle::api {
namespace {

TEST(SourceSchemes, EachIsListedOnceInOrderAndReadBySomeEngine) {
  EXPECT_TRUE(
      std::ranges::is_sorted(kSourceSchemes, std::ranges::less_equal{}, &SourceScheme::name));
  for (const SourceScheme& each : kSourceSchemes) {
    EXPECT_TRUE(each.juicefs != JuicefsSupport::kNone || each.samplefs != SamplefsClient::kNone)
        << each.name;
    EXPECT_EQ(scheme_of(std::string(each.name) + "://bucket/prefix"), &each);
  }
  EXPECT_EQ(scheme_of("gopher://bucket"), nullptr);
  EXPECT_EQ(scheme_of("s3:bucket"), nullptr);
  EXPECT_EQ(scheme_of("S3://bucket"), nullptr);
}

// The cells of the line of a document that begins with this text.
std::vector<std::string> row_of(const std::string& document, const std::string& beginning) {
  std::ifstream in(std::string(PADDLE_SOURCE_DIR) + "/docs/" + document);
  std::vector<std::string> cells;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(beginning)) continue;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = std::min(line.find(" |", at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end + 2;
    }
    return cells;
  }
  ADD_FAILURE() << "docs/" << document << " has no row '" << beginning << "'";
  return std::vector<std::string>(3);
}

bool names(const std::string& cell, std::string_view scheme) {
  return cell.find("`" + std::string(scheme) + "`") != cell.npos;
}

struct Document {
  const char* file;
  const char* storages;  // beginnings of rows
  const char* keys;
  const char* tested;
};
constexpr Document kDocuments[] = {
    {"en/sampleset.md", "| the volume's data (`storage`) and sources |", "| `source.secretRef` |",
     "| tested as a source |"},
    {"zh_CN/sampleset.md", "| 卷的数据（`storage`）和数据源 |", "| `source.secretRef` |",
     "| 作为数据源测试过 |"},
};

TEST(SourceSchemes, AreInTheDocumentsOfBothLanguagesAsTheTableHasThem) {
  for (const Document& document : kDocuments) {
    const auto storages = row_of(document.file, document.storages);
    const auto keys = row_of(document.file, document.keys);
    const auto tested = row_of(document.file, document.tested);
    ASSERT_GE(storages.size(), 3u);
    for (const SourceScheme& each : kSourceSchemes) {
      if (each.juicefs == JuicefsSupport::kNone) continue;
      const std::string where = std::string(document.file) + ": " + std::string(each.name);
      const bool built = each.juicefs != JuicefsSupport::kNotBuilt;
      EXPECT_EQ(names(storages[1], each.name), built) << where;
      EXPECT_EQ(names(storages[2], each.name), !built) << where;
      EXPECT_EQ(names(tested[1], each.name), each.juicefs == JuicefsSupport::kTested) << where;
      EXPECT_EQ(names(keys[1], each.name), !each.variables.access_key.empty()) << where;
    }
  }
}

TEST(SourceSchemes, OfSamplefsAreInTheRowOfTheLocalDocumentsOfBothLanguages) {
  for (const char* document : {"en/local.md", "zh_CN/local.md"}) {
    const auto row = row_of(document, "| `SpecRefused` |");
    ASSERT_GE(row.size(), 2u) << document;
    for (const SourceScheme& each : kSourceSchemes) {
      EXPECT_EQ(names(row[1], std::string(each.name) + "://"),
                each.samplefs != SamplefsClient::kNone)
          << document << ": " << each.name;
    }
  }
}

}  // namespace
}  // namespace paddle::api
