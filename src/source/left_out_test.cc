// SPDX-License-Identifier: Apache-2.0
#include "source/left_out.h"

#include <gtest/gtest.h>

#include "source/path_rules.h"

namespace paddle::source {
namespace {

TEST(LeftOut, CountsAllAndNamesTheFirstTwenty) {
  LeftOut left;
  for (int i = 0; i < 25; ++i) left.add(std::to_string(i) + "//x", "why");
  EXPECT_EQ(left.count, 25u);
  EXPECT_EQ(LeftOut::kMostExamples, 20u);
  ASSERT_EQ(left.examples.size(), LeftOut::kMostExamples);
  EXPECT_EQ(left.examples.front(), "'0//x' (why)");
  LeftOut sum;
  sum.add("a", "b");
  sum.add(left);
  EXPECT_EQ(sum.count, 26u);
  ASSERT_EQ(sum.examples.size(), LeftOut::kMostExamples);
  EXPECT_EQ(sum.examples[1], "'0//x' (why)");
}

TEST(LeftOut, NamesArePrintable) {
  EXPECT_EQ(shown_name("图片/貓.jpg"), "'图片/貓.jpg'");
  EXPECT_EQ(shown_name("a\nb\x1b[31m\x7f"), "'a\\x0ab\\x1b[31m\\x7f'");
  EXPECT_EQ(shown_name(std::string_view("a\0b", 3)), "'a\\x00b'");
  EXPECT_EQ(shown_name("\xff\xc0\xaf\xe4\xb8"), "'\\xff\\xc0\\xaf\\xe4\\xb8'");
  EXPECT_EQ(shown_name("x\xe2\x80\xaegpj"), "'x\\xe2\\x80\\xaegpj'") << "right to left";
  EXPECT_EQ(shown_name("\xed\xa0\x80"), "'\\xed\\xa0\\x80'") << "half of a surrogate pair";
  EXPECT_EQ(shown_name("\xf0\x80\x80\xaf"), "'\\xf0\\x80\\x80\\xaf'") << "longer than needed";
  for (const std::string& hard : {std::string(4000, '\n'), std::string(4000, 'a')}) {
    const std::string shown = shown_name(hard);
    EXPECT_LT(shown.size(), 200u);
    EXPECT_TRUE(shown.ends_with("...'"));
  }
}

TEST(LeftOut, NoNameMakesAnExampleThatCannotBeStored) {
  for (int byte = 0; byte < 256; ++byte) {
    for (const int next : {0, 10, 65, 0x80, 0xa0, 0xbf, 0xff}) {
      LeftOut left;
      left.add(
          std::string{static_cast<char>(byte), static_cast<char>(next)} + std::string(300, 'x'),
          "larger than a source may have");
      EXPECT_TRUE(is_printable(left.examples.front())) << byte << " " << next;
      EXPECT_LE(left.examples.front().size(), LeftOut::kLongestExample);
    }
  }
}

TEST(LeftOut, APathThatIsShortAndPrintableIsShownAsItIs) {
  EXPECT_EQ(shown_path("train/図 1.jpg"), "train/図 1.jpg");
  EXPECT_EQ(shown_path(std::string(300, 'x')), std::string(300, 'x'));
  EXPECT_EQ(shown_path(std::string(301, 'x')), std::string(80, 'x') + "...");
  EXPECT_EQ(shown_path("a\nb"), "a\\x0ab");
}

TEST(PathRules, ExplainWhyAPathIsInvalid) {
  EXPECT_EQ(why_no_path("a/b"), "");
  EXPECT_EQ(why_no_path("a//b"), "an empty part");
  EXPECT_EQ(why_no_path("/a"), "an empty part");
  EXPECT_EQ(why_no_path("a/"), "an empty part");
  EXPECT_EQ(why_no_path("a/../b"), "a part . or ..");
  EXPECT_EQ(why_no_path("."), "a part . or ..");
  EXPECT_EQ(why_no_path(std::string_view("a/\0b", 4)), "a zero byte");
  EXPECT_EQ(why_no_path("a/" + std::string(256, 'x')), "a part of more than 255 bytes");
  std::string deep = "a";
  while (deep.size() <= kMaxPathSize) deep += "/a";
  EXPECT_EQ(why_no_path(deep), "a path of more than 4095 bytes");
}

}  // namespace
}  // namespace paddle::source
