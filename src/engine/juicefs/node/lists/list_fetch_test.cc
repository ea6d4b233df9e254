// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/list_fetch.h"

#include <vector>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using std::chrono::seconds;

// Gives these answers in turn, the last one for ever, and counts.
struct First {
  std::vector<Result<std::string>> answers;
  std::size_t asked = 0;

  ListFetcher fetcher() {
    return [this](const std::string&, const std::string&, std::int32_t, std::stop_token) {
      return answers[std::min(asked++, answers.size() - 1)];
    };
  }
};

const Error kUnknown{Code::kNotFound, "unknown job"};
const Error kNotYet{Code::kUnavailable, "not made yet"};
const Error kThrough{Code::kExpired, "forgotten"};

struct Asked {
  Result<std::optional<std::string>> list;
  std::chrono::nanoseconds took;
};

Asked ask(First& first) {
  ManualClock clock;
  const BootTime began = clock.boot();
  auto list = fetch_list(first.fetcher(), {"first:7716", "warm", 1}, clock, {});
  return {std::move(list), clock.boot() - began};
}

TEST(ListFetch, WaitsForAListThatIsBeingMade) {
  First first{{kUnknown, kNotYet, kNotYet, std::string("a\n")}};
  const Asked found = ask(first);
  EXPECT_EQ(*found.list, "a\n");
  EXPECT_LT(found.took, seconds{1});
}

TEST(ListFetch, GivesUpAtOnceWhenTheFirstRuntimeHasEndedTheJob) {
  First first{{kThrough}};
  const Asked found = ask(first);
  EXPECT_EQ(*found.list, std::nullopt);
  EXPECT_EQ(first.asked, 1);
  EXPECT_EQ(found.took, seconds{0});
}

TEST(ListFetch, GivesUpSoonWhenTheFirstRuntimeDoesNotKnowTheJob) {
  First first{{kUnknown}};
  const Asked found = ask(first);
  EXPECT_EQ(*found.list, std::nullopt);
  EXPECT_GE(found.took, seconds{5});
  EXPECT_LT(found.took, seconds{7});
}

TEST(ListFetch, GivesUpAfterAMinuteWithoutAList) {
  First first{{kUnknown, kNotYet}};
  const Asked found = ask(first);
  EXPECT_EQ(*found.list, std::nullopt);
  EXPECT_GE(found.took, seconds{60});
  EXPECT_LT(found.took, seconds{62});
}

TEST(ListFetch, StopsOnRequest) {
  First first{{kNotYet}};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(
      fetch_list(first.fetcher(), {"first:7716", "warm", 1}, system_clock(), stop.get_token())
          .is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::engine::juicefs
