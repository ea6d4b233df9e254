// SPDX-License-Identifier: Apache-2.0
#include "kube/events/aggregation/event_text.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

TEST(EventText, IsCutBetweenCharacters) {
  EXPECT_EQ(clean_text("abc", 1024), "abc");
  EXPECT_EQ(clean_text("abc", 2), "ab");
  EXPECT_EQ(clean_text("飞桨", 5), "飞");  // three bytes each
  EXPECT_EQ(clean_text("a😀b", 4), "a");
  EXPECT_EQ(clean_text("a😀b", 5), "a😀");
  EXPECT_EQ(clean_text(std::string(3000, 'x'), 1024).size(), 1024u);
}

TEST(EventText, InvalidBytesBecomeQuestionMarksAndNeverGrowTheText) {
  EXPECT_EQ(clean_text("a\xff\xfe"
                       "b",
                       10),
            "a??b");
  EXPECT_EQ(clean_text("\xc0\x80", 10), "??");            // overlong
  EXPECT_EQ(clean_text("\xed\xa0\x80", 10), "???");       // surrogate
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80", 10), "????");  // beyond Unicode
  EXPECT_EQ(clean_text("\xe9\xa3", 10), "??");            // cut off
  EXPECT_EQ(clean_text(std::string(2000, '\xff'), 1024), std::string(1024, '?'));
}

TEST(EventText, NamesAreValidDeterministicAndDistinct) {
  const auto name = event_name("job", "what");
  EXPECT_EQ(name.size(), 3u + 1 + 16);
  EXPECT_EQ(name, event_name("job", "what"));
  EXPECT_NE(name, event_name("job", "else"));
  const auto longest = event_name(std::string(235, 'a') + "." + std::string(17, 'b'), "what");
  EXPECT_LE(longest.size(), 253u);
  EXPECT_EQ(longest.find(".."), std::string::npos);
}

}  // namespace
}  // namespace paddle::kube
