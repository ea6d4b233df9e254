// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/list_splitter.h"

#include <vector>

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

struct Outcome {
  std::vector<std::string> items{};
  ListHead head{};
  std::string error{};
  bool operator==(const Outcome&) const = default;
};

Outcome play(std::string_view text, const std::vector<size_t>& cuts, size_t limit = 1000) {
  Outcome outcome;
  ListSplitter splitter(limit);
  const auto sink = [&](std::string_view item) -> Result<> {
    outcome.items.emplace_back(item);
    return Done{};
  };
  const auto feed = [&]() -> Result<ListHead> {
    size_t from = 0;
    for (const size_t cut : cuts) {
      CHECK_DONE(splitter.feed(text.substr(from, cut - from), sink));
      from = cut;
    }
    CHECK_DONE(splitter.feed(text.substr(from), sink));
    return splitter.finish();
  };
  if (auto head = feed(); head) {
    outcome.head = *head;
  } else {
    outcome.error = std::string(name(head.error().code)) + ": " + head.error().message;
  }
  return outcome;
}

const std::string kList =
    R"({"kind":"PodList","apiVersion":"v1","other":{"items":[9],"x":"]}"},)"
    R"("metadata":{"resourceVersion":"12","continue":"a\"b","remainingItemCount":3},)"
    "\n"
    R"("items":[{"a":1}, {"b":"],[\\"} ,{"c":[{},[]]}],"n":1,"f":false})"
    "\n";

TEST(ListSplitter, DeliversEachItemAndTheHead) {
  const auto outcome = play(kList, {});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.items,
            (std::vector<std::string>{R"({"a":1})", R"({"b":"],[\\"})", R"({"c":[{},[]]})"}));
  EXPECT_EQ(outcome.head, (ListHead{"12", "a\"b"}));
}

TEST(ListSplitter, TheChunkingMakesNoDifference) {
  const auto whole = play(kList, {});
  for (size_t a = 0; a <= kList.size(); ++a) {
    for (size_t b = a; b <= kList.size(); ++b)
      ASSERT_EQ(play(kList, {a, b}), whole) << a << " " << b;
  }
  std::vector<size_t> every;
  for (size_t at = 0; at <= kList.size(); ++at) every.push_back(at);
  EXPECT_EQ(play(kList, every), whole);
}

TEST(ListSplitter, AListCutBeforeItsEndIsUnavailable) {
  const size_t last_brace = kList.rfind('}');
  for (size_t size = 0; size <= last_brace; ++size) {
    EXPECT_EQ(play(std::string_view(kList).substr(0, size), {}).error,
              "Unavailable: the list was cut before its end");
  }
}

TEST(ListSplitter, TheOrderOfFieldsAndEmptyListsMakeNoDifference) {
  EXPECT_EQ(play(R"({"items":[],"metadata":{"resourceVersion":"7"}})", {}).head,
            (ListHead{"7", ""}));
  EXPECT_EQ(play(R"({"items":null,"metadata":{"resourceVersion":"7"}})", {}).head,
            (ListHead{"7", ""}));
  EXPECT_EQ(play(R"({"items":[{}],"metadata":{"resourceVersion":"7","continue":"t"}})", {}).head,
            (ListHead{"7", "t"}));
}

TEST(ListSplitter, AStatusInsteadOfAListIsItsError) {
  EXPECT_EQ(play(R"({"kind":"Status","code":403,"message":"no","reason":"Forbidden"})", {}).error,
            "Forbidden: no");
}

TEST(ListSplitter, WhatIsNotAListIsOneClearError) {
  const char* bad[] = {"[]",
                       "x",
                       "{}",
                       "{1:2}",
                       R"({"items":{}})",
                       R"({"items":[1]})",
                       R"({"items":[{} {}]})",
                       R"({"items":[,]})",
                       R"({"items":[{}],"items":[{}]})",
                       R"({"items":[]}x)",
                       R"({"items" []})",
                       R"({"items":[]]", R"({"items":[]"a":1})",
                       R"({"kind":"PodList"})",
                       "<html>",
                       R"({{}:1})",
                       "{]"};
  for (const char* text : bad) {
    const auto outcome = play(text, {});
    EXPECT_TRUE(outcome.error.starts_with("Internal: malformed"))
        << text << " -> " << outcome.error;
  }
}

TEST(ListSplitter, AHugeItemOrHeadIsRefused) {
  const std::string item = R"({"items":[{"a":")" + std::string(5000, 'x');
  EXPECT_EQ(play(item, {20}).error, "Invalid: an item of the list is larger than 1000 bytes");
  const std::string head = R"({"metadata":{"a":")" + std::string(300'000, 'x');
  EXPECT_EQ(play(head, {20}).error, "Invalid: the head of the list is larger than 262144 bytes");
  const std::string skipped = R"({"other":")" + std::string(300'000, 'x') + R"(","items":[]})";
  EXPECT_EQ(play(skipped, {20}).error, "");
}

}  // namespace
}  // namespace paddle::kube
