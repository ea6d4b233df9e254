// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/request_state.h"

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using api::ObjectKey;
using std::chrono::seconds;

const ObjectKey kOne{"train", "one"};
const ObjectKey kTwo{"train", "two"};
const ObjectKey kOther{"other", "job"};
const BootTime kNow{seconds{1000}};

RuntimeRequest put(const std::string& uid, const std::string& id) {
  return {uid, {.address = uid, .id = id, .request = runtime::JobRequest{}}};
}
RuntimeRequest cancel(const std::string& uid, const std::string& id) {
  return {uid, {.address = uid, .id = id}};
}
using Owners = std::vector<ObjectKey>;

TEST(RequestState, GivesAnOutcomeOnceAndOnlyToItsOwner) {
  RequestState state;
  const auto number = state.begin(kOne, put("a", "id"), kNow);
  ASSERT_TRUE(number);
  EXPECT_FALSE(state.take(kOne, put("a", "id"), kNow)) << "it has not ended";
  state.wait(kOne, "a");
  EXPECT_EQ(state.finished(*number, Error{Code::kDeadline, "late"}, kNow), Owners{kOne});
  EXPECT_FALSE(state.take(kTwo, put("a", "id"), kNow));
  EXPECT_FALSE(state.take(kOne, cancel("a", "id"), kNow)) << "another request about the same job";
  const auto outcome = state.take(kOne, put("a", "id"), kNow);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->is(Code::kDeadline));
  EXPECT_FALSE(state.take(kOne, put("a", "id"), kNow));
  EXPECT_EQ(state.in_progress(), 0u);
}

// Otherwise a cancellation might overtake the job that it cancels.
TEST(RequestState, ARuntimeHasOneRequestAtATime) {
  RequestState state;
  const auto first = state.begin(kOne, put("a", "id"), kNow);
  ASSERT_TRUE(first);
  EXPECT_FALSE(state.begin(kOne, cancel("a", "id"), kNow));
  EXPECT_FALSE(state.begin(kTwo, put("a", "other"), kNow));
  EXPECT_TRUE(state.begin(kTwo, put("b", "other"), kNow)) << "at another runtime";
  EXPECT_EQ(state.finished(*first, Done{}, kNow), (Owners{kOne, kTwo}));
  EXPECT_TRUE(state.begin(kOne, cancel("a", "id"), kNow));
}

TEST(RequestState, SilentRuntimesOfOneNamespaceLeaveRoomForOthers) {
  RequestState state;
  std::optional<std::uint64_t> first;
  for (std::size_t i = 0; i < kMostRequestsOfANamespace; ++i) {
    const auto number = state.begin(kOne, put("silent-" + std::to_string(i), "id"), kNow);
    ASSERT_TRUE(number);
    if (!first) first = number;
  }
  EXPECT_FALSE(state.begin(kOne, put("one-more", "id"), kNow));
  EXPECT_TRUE(state.begin(kOther, put("of-others", "id"), kNow));
  EXPECT_EQ(state.finished(*first, Error{Code::kDeadline, ""}, kNow), Owners{kOne})
      << "it waits for room";
  EXPECT_TRUE(state.begin(kOne, put("one-more", "id"), kNow));
}

TEST(RequestState, IsBoundedInAll) {
  RequestState state;
  for (std::size_t i = 0; i < kMostRequestsAtOnce; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(state.begin({"ns-" + name, "job"}, put(name, "id"), kNow));
  }
  EXPECT_FALSE(state.begin(kOne, put("one-more", "id"), kNow));
}

TEST(RequestState, ForgetsOutcomesThatAreNotTakenAndThoseOfAForgottenOwner) {
  RequestState state;
  for (const char* uid : {"a", "b"}) {
    (void)state.finished(*state.begin(kOne, put(uid, "id"), kNow), Done{}, kNow);
  }
  (void)state.finished(*state.begin(kTwo, put("a", "id"), kNow), Done{}, kNow + seconds{1});
  EXPECT_EQ(state.outcomes(), 3u);
  state.forget(kTwo);
  EXPECT_EQ(state.outcomes(), 2u);
  // One of them is newer than its first end.
  (void)state.finished(*state.begin(kOne, put("b", "id"), kNow), Done{}, kNow + seconds{30});
  ASSERT_TRUE(state.begin(kOther, put("c", "id"), kNow + kOutcomeExpiry));
  EXPECT_EQ(state.outcomes(), 1u);
  EXPECT_TRUE(state.take(kOne, put("b", "id"), kNow + kOutcomeExpiry));
}

// Otherwise two cancellations of which one is always in progress would never both be done.
TEST(RequestState, ACancellationStaysDoneUntilTheJobIsSentAgain) {
  RequestState state;
  (void)state.finished(*state.begin(kOne, cancel("a", "id"), kNow), Done{}, kNow);
  for (int pass = 0; pass < 2; ++pass) {
    const auto outcome = state.outcome(kOne, cancel("a", "id"), kNow);
    ASSERT_TRUE(outcome) << pass;
    EXPECT_TRUE(*outcome);
  }
  ASSERT_TRUE(state.begin(kOne, put("a", "id"), kNow));
  EXPECT_FALSE(state.outcome(kOne, cancel("a", "id"), kNow)) << "it is to be cancelled again";
}

TEST(RequestState, ACancellationThatFailedIsRepeated) {
  RequestState state;
  (void)state.finished(*state.begin(kOne, cancel("a", "id"), kNow), Error{Code::kDeadline, ""},
                       kNow);
  EXPECT_TRUE(state.outcome(kOne, cancel("a", "id"), kNow));
  EXPECT_FALSE(state.outcome(kOne, cancel("a", "id"), kNow));
}

TEST(RequestState, GivesNoOldOutcome) {
  RequestState state;
  (void)state.finished(*state.begin(kOne, cancel("a", "id"), kNow), Done{}, kNow);
  (void)state.finished(*state.begin(kOne, put("b", "id"), kNow), Done{}, kNow);
  EXPECT_FALSE(state.outcome(kOne, cancel("a", "id"), kNow + kOutcomeExpiry));
  EXPECT_FALSE(state.outcome(kOne, put("b", "id"), kNow + kOutcomeExpiry));
  EXPECT_EQ(state.outcomes(), 0u);
}

}  // namespace
}  // namespace paddle::controllers
