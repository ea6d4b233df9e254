// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/control_message.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

std::string bytes(std::initializer_list<int> list) {
  std::string text;
  for (const int each : list) text += static_cast<char>(each);
  return text;
}

TEST(ControlMessage, RequestsHaveTheFormatOfJuicefs) {
  EXPECT_EQ(cache_request(CacheAction::kCheck, {"/a", "/b"}, 50),
            bytes({0, 0, 3, 0xec, 0, 0, 0, 13, 0, 0, 0, 5}) + "/a\n/b" + bytes({0, 50, 0, 2}));
  EXPECT_EQ(totals_request(1, true),
            bytes({0, 0, 3, 0xed, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(
      remove_request(258, "dir", true),
      bytes({0, 0, 3, 0xea, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0, 1, 2, 3}) + "dir" + bytes({1, 50}));
}

TEST(ControlReader, AssemblesAnswersFromAnyPieces) {
  const std::string progress = bytes({0xfe, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 1, 0});
  const std::string all = progress + bytes({0xff, 0, 0, 0, 2}) + "{}";
  for (std::size_t size = 1; size <= all.size(); ++size) {
    ControlReader reader;
    for (std::size_t at = 0; at < all.size(); at += size) {
      EXPECT_FALSE(reader.answer().ended);
      ASSERT_TRUE(reader.add(all.substr(at, size)));
    }
    EXPECT_TRUE(reader.answer().ended);
    EXPECT_EQ(reader.answer().data, "{}");
    EXPECT_EQ(reader.answer().files, 7u);
    EXPECT_EQ(reader.answer().bytes, 256u);
  }
}

TEST(ControlReader, EndsWithAnErrorNumber) {
  ControlReader reader;
  ASSERT_TRUE(reader.add(bytes({ENOENT})));
  EXPECT_TRUE(reader.answer().ended);
  EXPECT_EQ(reader.answer().error, ENOENT);
  ControlReader well;
  ASSERT_TRUE(well.add(bytes({0})));
  EXPECT_TRUE(well.answer().ended);
  EXPECT_EQ(well.answer().error, 0);
}

TEST(ControlReader, RefusesAnAnswerThatIsTooLong) {
  ControlReader reader;
  EXPECT_TRUE(reader.add(bytes({0xff, 0x7f, 0, 0, 0})).is(Code::kInternal));
}

TEST(ControlMessage, ReadsUsageAndTotals) {
  EXPECT_EQ(*parse_cache_usage(
                R"({"FileCount":3,"SliceCount":4,"TotalBytes":500,"MissBytes":20,"Locations":{}})"),
            (CacheUsage{.files = 3, .bytes = 500, .missing = 20}));
  EXPECT_EQ(
      *parse_totals(R"({"Ino":1,"Failed":false,"Summary":{"Length":9,"Size":4096,"Files":2}})"),
      (VolumeTotals{.files = 2, .bytes = 9}));
  EXPECT_TRUE(parse_totals(R"({"Failed":true,"Summary":{}})").is(Code::kUnavailable));
  for (const char* wrong : {"{}", "[]", "3", R"({"Summary":{"Files":-1,"Length":"x"}})"}) {
    EXPECT_FALSE(parse_cache_usage(wrong)) << wrong;
    EXPECT_FALSE(parse_totals(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace paddle::engine::juicefs
