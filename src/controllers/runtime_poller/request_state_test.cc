// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/request_state.h"

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using api::ObjectKey;
using std::chrono::seconds;

const ObjectKey kFirst{"train", "one"};
const ObjectKey kSecond{"train", "two"};
const ObjectKey kOtherNamespace{"other", "job"};
const BootTime kStart{seconds{1000}};

RuntimeRequest put_at(const std::string& uid, const std::string& id) {
  return {uid, {.address = uid, .id = id, .request = runtime::JobRequest{}}};
}
RuntimeRequest cancel_at(const std::string& uid, const std::string& id) {
  return {uid, {.address = uid, .id = id}};
}
using ToWake = std::vector<ObjectKey>;

TEST(RequestState, GivesAnOutcomeOnceAndOnlyToItsOwner) {
  RequestState state;
  const auto number = state.begin(kFirst, put_at("a", "id"), kStart);
  ASSERT_TRUE(number);
  EXPECT_FALSE(state.take(kFirst, put_at("a", "id"), kStart)) << "it has not ended";
  state.wait(kFirst, "a");
  EXPECT_EQ(state.finished(*number, Error{Code::kDeadline, "late"}, kStart), ToWake{kFirst});
  EXPECT_FALSE(state.take(kSecond, put_at("a", "id"), kStart));
  EXPECT_FALSE(state.take(kFirst, cancel_at("a", "id"), kStart))
      << "another request about the same job";
  const auto outcome = state.take(kFirst, put_at("a", "id"), kStart);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->is(Code::kDeadline));
  EXPECT_FALSE(state.take(kFirst, put_at("a", "id"), kStart));
  EXPECT_EQ(state.in_progress(), 0u);
}

// Otherwise a cancellation might overtake the job that it cancels.
TEST(RequestState, ARuntimeHasOneRequestAtATime) {
  RequestState state;
  const auto first = state.begin(kFirst, put_at("a", "id"), kStart);
  ASSERT_TRUE(first);
  EXPECT_FALSE(state.begin(kFirst, cancel_at("a", "id"), kStart));
  EXPECT_FALSE(state.begin(kSecond, put_at("a", "other"), kStart));
  EXPECT_TRUE(state.begin(kSecond, put_at("b", "other"), kStart)) << "at another runtime";
  EXPECT_EQ(state.finished(*first, Done{}, kStart), (ToWake{kFirst, kSecond}));
  EXPECT_TRUE(state.begin(kFirst, cancel_at("a", "id"), kStart));
}

TEST(RequestState, SilentRuntimesOfOneNamespaceLeaveRoomForOthers) {
  RequestState state;
  std::optional<std::uint64_t> first;
  for (std::size_t i = 0; i < kMostRequestsOfANamespace; ++i) {
    const auto number = state.begin(kFirst, put_at("silent-" + std::to_string(i), "id"), kStart);
    ASSERT_TRUE(number);
    if (!first) first = number;
  }
  EXPECT_FALSE(state.begin(kFirst, put_at("one-more", "id"), kStart));
  EXPECT_TRUE(state.begin(kOtherNamespace, put_at("of-others", "id"), kStart));
  EXPECT_EQ(state.finished(*first, Error{Code::kDeadline, ""}, kStart), ToWake{kFirst})
      << "it waits for room";
  EXPECT_TRUE(state.begin(kFirst, put_at("one-more", "id"), kStart));
}

TEST(RequestState, IsBoundedInAll) {
  RequestState state;
  for (std::size_t i = 0; i < kMostRequestsAtOnce; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(state.begin({"ns-" + name, "job"}, put_at(name, "id"), kStart));
  }
  EXPECT_FALSE(state.begin(kFirst, put_at("one-more", "id"), kStart));
}

TEST(RequestState, ForgetsOutcomesThatAreNotTakenAndThoseOfAForgottenOwner) {
  RequestState state;
  for (const char* uid : {"a", "b"}) {
    (void)state.finished(*state.begin(kFirst, put_at(uid, "id"), kStart), Done{}, kStart);
  }
  (void)state.finished(*state.begin(kSecond, put_at("a", "id"), kStart), Done{},
                       kStart + seconds{1});
  EXPECT_EQ(state.outcomes(), 3u);
  state.forget(kSecond);
  EXPECT_EQ(state.outcomes(), 2u);
  // One of them is newer than its first end.
  (void)state.finished(*state.begin(kFirst, put_at("b", "id"), kStart), Done{},
                       kStart + seconds{30});
  ASSERT_TRUE(state.begin(kOtherNamespace, put_at("c", "id"), kStart + kOutcomeExpiry));
  EXPECT_EQ(state.outcomes(), 1u);
  EXPECT_TRUE(state.take(kFirst, put_at("b", "id"), kStart + kOutcomeExpiry));
}

// Otherwise two cancellations of which one is always in progress would never both be done.
TEST(RequestState, ACancellationStaysDoneUntilTheJobIsSentAgain) {
  RequestState state;
  (void)state.finished(*state.begin(kFirst, cancel_at("a", "id"), kStart), Done{}, kStart);
  for (int pass = 0; pass < 2; ++pass) {
    const auto outcome = state.outcome(kFirst, cancel_at("a", "id"), kStart);
    ASSERT_TRUE(outcome) << pass;
    EXPECT_TRUE(*outcome);
  }
  ASSERT_TRUE(state.begin(kFirst, put_at("a", "id"), kStart));
  EXPECT_FALSE(state.outcome(kFirst, cancel_at("a", "id"), kStart))
      << "it is to be cancelled again";
}

TEST(RequestState, KnowsWhatIsInProgress) {
  RequestState state;
  EXPECT_FALSE(state.is_in_progress(kFirst, cancel_at("a", "id")));
  const auto number = state.begin(kFirst, cancel_at("a", "id"), kStart);
  ASSERT_TRUE(number);
  EXPECT_TRUE(state.is_in_progress(kFirst, cancel_at("a", "id")));
  EXPECT_FALSE(state.is_in_progress(kFirst, put_at("a", "id"))) << "it is not a cancellation";
  EXPECT_FALSE(state.is_in_progress(kSecond, cancel_at("a", "id")));
  (void)state.finished(*number, Done{}, kStart);
  EXPECT_FALSE(state.is_in_progress(kFirst, cancel_at("a", "id")));
}

TEST(RequestState, ACancellationThatFailedIsRepeated) {
  RequestState state;
  (void)state.finished(*state.begin(kFirst, cancel_at("a", "id"), kStart),
                       Error{Code::kDeadline, ""}, kStart);
  EXPECT_TRUE(state.outcome(kFirst, cancel_at("a", "id"), kStart));
  EXPECT_FALSE(state.outcome(kFirst, cancel_at("a", "id"), kStart));
}

TEST(RequestState, GivesNoOldOutcome) {
  RequestState state;
  (void)state.finished(*state.begin(kFirst, cancel_at("a", "id"), kStart), Done{}, kStart);
  (void)state.finished(*state.begin(kFirst, put_at("b", "id"), kStart), Done{}, kStart);
  EXPECT_FALSE(state.outcome(kFirst, cancel_at("a", "id"), kStart + kOutcomeExpiry));
  EXPECT_FALSE(state.outcome(kFirst, put_at("b", "id"), kStart + kOutcomeExpiry));
  EXPECT_EQ(state.outcomes(), 0u);
}

}  // namespace
}  // namespace paddle::controllers
