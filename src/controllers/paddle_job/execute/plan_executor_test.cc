// SPDX-License-Identifier: Apache-2.0
//
// Requests that the API server rejects: they are reported, and repeated with a suitable pause.

#include "controllers/paddle_job/testing/reconciler_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;
using kube::Verb;

struct RejectedRequestsTest : OnePassTest {
  std::atomic<bool> rejected{true};

  void reject_pods(Code code) {
    fault = [this, code](const kube::Request& request, size_t) {
      const bool hit =
          rejected && request.verb == Verb::kCreate && request.resource == kinds::kPods;
      return hit ? std::optional<kube::Fault>({.code = code}) : std::nullopt;
    };
  }
};

TEST_F(RejectedRequestsTest, AreRepeatedEveryMinuteWhenARuleForbidsThem) {
  reject_pods(Code::kInvalid);  // as an admission policy does
  create_job();
  begin();
  EXPECT_EQ(pass().requeue_after, 60s);
  EXPECT_EQ(reason(), "InvalidObject");
  EXPECT_EQ(pass().requeue_after, 60s);
  rejected = false;
  pass();
  EXPECT_EQ(names(kinds::kPods).size(), 2u);
  EXPECT_EQ(reason(), "WaitingForPods");
}

TEST_F(RejectedRequestsTest, DoNotDelayTheDeadlineOfTheJob) {
  reject_pods(Code::kInvalid);
  create_job({{"activeDeadlineSeconds", 100}});
  const auto born = *parse_rfc3339(job()["metadata"]["creationTimestamp"].get<std::string>());
  // It had a pod on a node, which was lost.
  ASSERT_TRUE(server.patch(kinds::kPaddleJobs, key,
                           {.body = {{"status", {{"activeTime", rfc3339(born)}}}}}, "status"));
  clock.step_wall(born + 70s - clock.wall());
  begin();
  EXPECT_EQ(pass().requeue_after, 30s);
  clock.step_wall(30s);
  pass();
  EXPECT_EQ(reason("Failed"), "DeadlineExceeded");
}

TEST_F(RejectedRequestsTest, B27_AreReportedAsEventsWithKindNameAndCause) {
  reject_pods(Code::kForbidden);
  create_job({{"worker", {{"replicas", 1}}}});
  begin();
  const auto outcome = reconcile(key, {});
  ASSERT_TRUE(outcome.is(Code::kForbidden));
  EXPECT_TRUE(events.flush(1min));
  const std::string& text = outcome.error().message;
  const std::string cause = text.substr(text.rfind(": ") + 2);
  EXPECT_TRUE(has_event("create failed pod resnet-worker-0: ")) << text;
  EXPECT_TRUE(has_event(cause)) << text;
  rejected = false;
  pass();
  EXPECT_TRUE(events.flush(1min));
  EXPECT_TRUE(has_event("created pod resnet-worker-0"));
}

TEST_F(RejectedRequestsTest, OfAServerThatCannotCallItsWebhookAreReported) {
  reject_pods(Code::kInternal);
  create_job();
  begin();
  EXPECT_TRUE(reconcile(key, {}).is(Code::kInternal));  // the queue tries again
  EXPECT_EQ(reason(), "ServerError");
  rejected = false;
  pass();
  EXPECT_EQ(names(kinds::kPods).size(), 2u);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
