// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/runtime_requests.h"

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using api::ObjectKey;

const ObjectKey kJob{"train", "warm-up"};

RuntimeRequest put(const std::string& address) {
  return {"uid-" + address, {.address = address, .id = "id", .request = runtime::JobRequest{}}};
}

// Keeps requests until the test answers them.
struct RuntimeRequestsTest : ::testing::Test {
  const ManualClock clock{};
  std::vector<runtime::SendDone> unanswered{};
  std::vector<ObjectKey> woken{};
  int ended = 0;
  std::unique_ptr<RuntimeRequests> requests = std::make_unique<RuntimeRequests>(
      [this](const runtime::JobCall& call, const runtime::SendDone& done) {
        if (call.address != "silent") return done(Done{});
        unanswered.push_back(done);
      },
      [this](const ObjectKey& owner) { woken.push_back(owner); }, clock);

  RuntimeRequests::Sent send(const std::string& address) {
    return requests->send(kJob, put(address), [this] { ++ended; });
  }
};

TEST_F(RuntimeRequestsTest, AnAnswerThatIsThereAtOnceWakesNothing) {
  const auto sent = send("quick");
  EXPECT_TRUE(sent.begun);
  ASSERT_TRUE(sent.outcome);
  EXPECT_TRUE(*sent.outcome);
  EXPECT_EQ(ended, 1);
  EXPECT_TRUE(woken.empty());
}

TEST_F(RuntimeRequestsTest, ASilentRuntimeDelaysNoCallAndGetsEachRequestOnce) {
  EXPECT_FALSE(send("silent").outcome);
  const auto again = send("silent");
  EXPECT_FALSE(again.begun);
  EXPECT_FALSE(again.outcome);
  EXPECT_TRUE(send("quick").outcome);
  EXPECT_EQ(ended, 1) << "of the quick one";
  ASSERT_EQ(unanswered.size(), 1u);
  unanswered[0](Error{Code::kUnavailable, "no answer"});
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(woken, std::vector<ObjectKey>{kJob});
  const auto taken = send("silent");
  EXPECT_FALSE(taken.begun);
  ASSERT_TRUE(taken.outcome);
  EXPECT_TRUE(taken.outcome->is(Code::kUnavailable));
  EXPECT_TRUE(send("silent").begun) << "the next attempt";
}

TEST_F(RuntimeRequestsTest, AnAnswerAfterItsEndCallsNothing) {
  EXPECT_FALSE(send("silent").outcome);
  requests.reset();
  unanswered[0](Done{});
  EXPECT_EQ(ended, 0);
  EXPECT_TRUE(woken.empty());
}

}  // namespace
}  // namespace paddle::controllers
