// SPDX-License-Identifier: Apache-2.0
//
// Requests that the API server rejects: they are reported, and repeated with a suitable pause.

#include "controllers/paddle_job/execute/plan_executor.h"

#include "controllers/paddle_job/testing/reconciler_fixture.h"
#include "etcd/memory_store.h"

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

TEST_F(RejectedRequestsTest, ToDeleteAreReportedAsEventsWithKindNameAndCause) {
  fault = [this](const kube::Request& request, size_t) {
    const bool hit = rejected && request.verb == Verb::kRemove && request.resource == kinds::kPods;
    return hit ? std::optional<kube::Fault>({.code = Code::kForbidden}) : std::nullopt;
  };
  create_job({{"worker", {{"replicas", 1}}}});
  begin();
  pass();
  ASSERT_TRUE(server.patch(kinds::kPaddleJobs, key, {.body = {{"spec", {{"suspend", true}}}}}));
  until([&] { return reconcile(key, {}).is(Code::kForbidden); });
  EXPECT_TRUE(events.flush(1min));
  EXPECT_TRUE(has_event("delete failed pod resnet-worker-0: "));
  EXPECT_TRUE(has_event("\"Delete\""));
  rejected = false;
  pass();
  EXPECT_TRUE(events.flush(1min));
  EXPECT_TRUE(has_event("deleted pod resnet-worker-0"));
}

// Single actions. A pod waits behind two gates, as the plan knows it.
struct ActionTest : OnePassTest {
  const ObjectKey pod{"train", "gated"};
  Metrics metrics{};
  PassPacing pacing{queue, events, clock};
  std::unique_ptr<WorldObserver> observer{};
  std::unique_ptr<PlanExecutor> executor{};
  JobCache cache{};

  const std::shared_ptr<etcd::Store> etcd = std::make_shared<etcd::MemoryStore>();

  void SetUp() override {
    const auto gates = Json::array({Json{{"name", "other/gate"}}, Json{{"name", "ours/gate"}}});
    ASSERT_TRUE(server.create(
        kinds::kPods,
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"namespace", pod.ns}, {"name", pod.name}}},
         {"spec",
          {{"schedulingGates", gates}, {"containers", Json::array({Json{{"name", "c"}}})}}}}));
    observer = std::make_unique<WorldObserver>(
        ControllerContext{failing, informers, events, queue, metrics}, "",
        Config{.etcd = {"http://e:2379"}}, etcd, pacing, clock);
    executor = std::make_unique<PlanExecutor>(failing, events, etcd, *observer);
  }
  void TearDown() override { informers.stop(); }
  Result<> remove_gate(Pass& pass) {
    Plan plan;
    plan.add(Patch{
        OwnedKind::kPod, pod,
        api::Opaque(Json::array(
            {Json{{"op", "test"}, {"path", "/spec/schedulingGates/1/name"}, {"value", "ours/gate"}},
             Json{{"op", "remove"}, {"path", "/spec/schedulingGates/1"}}})),
        true});
    return executor->execute(plan, {}, pass);
  }
  size_t gates() { return (*server.get(kinds::kPods, pod))["spec"]["schedulingGates"].size(); }
};

TEST_F(ActionTest, APatchIsNoErrorWhenItsObjectHasChangedMeanwhile) {
  ASSERT_TRUE(server.patch(
      kinds::kPods, pod,
      {.body = {{"spec", {{"schedulingGates", Json::array({Json{{"name", "ours/gate"}}})}}}}}));
  Pass pass{.cache = cache};
  EXPECT_TRUE(remove_gate(pass));
  EXPECT_FALSE(pass.trouble);
  EXPECT_EQ(gates(), 1u) << "the next plan removes it";
}

TEST_F(ActionTest, APatchIsExecutedWhenItsObjectIsAsThePlanKnowsIt) {
  Pass pass{.cache = cache};
  EXPECT_TRUE(remove_gate(pass));
  EXPECT_EQ(gates(), 1u);
}

TEST_F(ActionTest, APatchThatTheServerRejectsIsAnErrorWhenItsObjectHasNotChanged) {
  fault = [](const kube::Request& request, size_t) {
    const bool hit = request.verb == Verb::kPatch;
    return hit ? std::optional<kube::Fault>({.code = Code::kInvalid}) : std::nullopt;
  };
  Pass pass{.cache = cache};
  EXPECT_TRUE(remove_gate(pass).is(Code::kInvalid));
  ASSERT_TRUE(pass.trouble);
  EXPECT_EQ(pass.trouble->reason, "InvalidObject");
}

TEST_F(ActionTest, TheKeysOfAnEndedJobStayWhenALivingJobHasTheSameId) {
  create_job({{"elastic", 1}}, "res-net");
  informers.start();
  ASSERT_TRUE(informers.wait_until_synced({}));
  const ObjectKey ended{"train-res", "net"};
  ASSERT_TRUE(etcd->put(np_key(ended), "2"));
  executor->forget_elastic_state(ended, cache, {});
  EXPECT_TRUE(etcd->get(np_key(ended))->has_value());

  ASSERT_TRUE(server.remove(kinds::kPaddleJobs, {"train", "res-net"}));
  until([&] { return !observer->shares_elastic_id(ended); });
  executor->forget_elastic_state(ended, cache, {});
  EXPECT_FALSE(etcd->get(np_key(ended))->has_value());
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
