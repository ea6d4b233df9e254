// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/watch_splitter.h"

#include <vector>

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

struct Outcome {
  std::vector<std::string> events{};
  std::string error{};  // "" when the stream ended well
  bool operator==(const Outcome&) const = default;
};

// Feeds `text` cut at the given places.
Outcome play(std::string_view text, const std::vector<size_t>& cuts, size_t limit = 1000) {
  Outcome outcome;
  WatchSplitter splitter(limit);
  const auto sink = [&](const WatchEvent& event) -> Result<> {
    outcome.events.push_back(std::to_string(static_cast<int>(event.type)) +
                             std::string(event.object));
    return Done{};
  };
  const auto feed = [&]() -> Result<> {
    size_t from = 0;
    for (const size_t cut : cuts) {
      CHECK_DONE(splitter.feed(text.substr(from, cut - from), sink));
      from = cut;
    }
    CHECK_DONE(splitter.feed(text.substr(from), sink));
    return splitter.finish();
  };
  if (auto done = feed(); !done) {
    outcome.error = std::string(name(done.error().code)) + ": " + done.error().message;
  }
  return outcome;
}

const std::string kStream =
    R"({"type":"ADDED","object":{"a":"}\"{\\","b":[1,{"c":null}]}})"
    "\n"
    R"({"object":{"m":2},"type":"MODIFIED"}{"type":"DELETED","object":{}})"
    "\r\n\n "
    R"({"type":"BOOKMARK","extra":[true,-1.5e3,"x"],"object":{"kind":"Pod"}})"
    "\n";

TEST(WatchSplitter, DeliversEachEventWithItsObjectsText) {
  const auto outcome = play(kStream, {});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.events, (std::vector<std::string>{R"(0{"a":"}\"{\\","b":[1,{"c":null}]})",
                                                      R"(1{"m":2})", "2{}", R"(3{"kind":"Pod"})"}));
}

TEST(WatchSplitter, TheChunkingMakesNoDifference) {
  const auto whole = play(kStream, {});
  for (size_t a = 0; a <= kStream.size(); ++a) {
    for (size_t b = a; b <= kStream.size(); ++b)
      ASSERT_EQ(play(kStream, {a, b}), whole) << a << " " << b;
  }
  std::vector<size_t> every;
  for (size_t at = 0; at <= kStream.size(); ++at) every.push_back(at);
  EXPECT_EQ(play(kStream, every), whole);
}

TEST(WatchSplitter, ACutStreamDeliversOnlyWholeEventsAndReportsTheCut) {
  const auto whole = play(kStream, {});
  for (size_t size = 0; size <= kStream.size(); ++size) {
    const auto outcome = play(std::string_view(kStream).substr(0, size), {});
    ASSERT_LE(outcome.events.size(), whole.events.size());
    for (size_t i = 0; i < outcome.events.size(); ++i)
      EXPECT_EQ(outcome.events[i], whole.events[i]);
    if (!outcome.error.empty()) {
      EXPECT_EQ(outcome.error, "Unavailable: the watch was cut in the middle of an event");
    }
  }
}

TEST(WatchSplitter, AnErrorEventBecomesItsError) {
  EXPECT_EQ(
      play(R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})", {})
          .error,
      "Expired: watch: too old");
  EXPECT_EQ(play(R"({"type":"ERROR","object":{"kind":"Status","reason":"Expired"}})", {}).error,
            "Expired: watch: the server sent an error without a message");
  EXPECT_EQ(play(R"({"type":"ERROR","object":{"code":500,"message":"etcd"}})", {}).error,
            "Internal: watch: etcd");
}

TEST(WatchSplitter, WhatIsNotAnEventIsOneClearError) {
  const char* bad[] = {"[]",
                       "x",
                       "\"type\"",
                       "{]",
                       "{}",
                       R"({"type":"ADDED"})",
                       R"({"type":"ADDED","object":[]})",
                       R"({"type":"ADDED","object":null})",
                       R"({"type":"NEW","object":{}})",
                       R"({"type" "ADDED"})",
                       R"({"type":,"object":{}})",
                       R"({"type":"ADDED" "object":{}})",
                       R"({,})",
                       "<html>"};
  for (const char* text : bad) {
    const auto outcome = play(text, {});
    EXPECT_TRUE(outcome.error.starts_with("Internal: malformed"))
        << text << " -> " << outcome.error;
    EXPECT_TRUE(outcome.events.empty()) << text;
  }
}

TEST(WatchSplitter, AHugeOrDeepEventIsRefusedWithoutBeingGathered) {
  const std::string huge = R"({"type":"ADDED","object":{"a":")" + std::string(5000, 'x');
  EXPECT_EQ(play(huge, {10}).error, "Invalid: an event of the watch is larger than 1000 bytes");
  EXPECT_EQ(play(std::string(500, '{'), {}).error, "Invalid: JSON is nested deeper than 128");
}

TEST(WatchSplitter, TheSinksErrorEndsTheStream) {
  WatchSplitter splitter(1000);
  int calls = 0;
  const auto done = splitter.feed(kStream, [&](const WatchEvent&) -> Result<> {
    ++calls;
    return Error{Code::kConflict, "mine"};
  });
  EXPECT_TRUE(done.is(Code::kConflict));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace paddle::kube
