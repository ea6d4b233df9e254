// SPDX-License-Identifier: Apache-2.0
//
// Pods that have succeeded and are deleted, before or after the status has their indexes
// (JobCache::last_completed).

#include <atomic>

#include "api/json/look.h"
#include "controllers/paddle_job/testing/reconciler_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;
using kube::Verb;

const ObjectKey kFirst{"train", "resnet-worker-0"};

std::string ends_first(const std::string& name, int) {
  return name == kFirst.name ? "Succeeded" : "Running";
}

// One operator sees the first pod succeed, another one sees that it is gone.
struct CompletedPodsTest : PaddleJobReconcilerTest, ::testing::WithParamInterface<const char*> {};

TEST_P(CompletedPodsTest, AnotherOperatorDoesNotMissAPodThatWasDeletedAfterItsSuccess) {
  create_job({{"intranet", GetParam()}, {"ps", {{"replicas", 1}}}});
  run_until(server, ends_first,
            [&] { return api::look_text(job(), "/status/worker/completedIndexes") == "0"; });
  ASSERT_TRUE(server.remove(kinds::kPods, kFirst));
  ASSERT_EQ(names(kinds::kPods), (std::set<std::string>{"resnet-ps-0", "resnet-worker-1"}));
  run_until(
      server,
      [](const std::string& name, int) { return name == "resnet-ps-0" ? "Running" : "Succeeded"; },
      [&] { return phase() == "Completed"; });
  EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 3u);
  const Json status = job()["status"];
  EXPECT_FALSE(status.contains("epoch")) << status;
  EXPECT_FALSE(status.contains("disruptions")) << status;
  EXPECT_EQ(status["worker"]["succeeded"], 2);
  EXPECT_EQ(status["worker"]["completedIndexes"], "0-1");
}

INSTANTIATE_TEST_SUITE_P(Intranets, CompletedPodsTest,
                         ::testing::Values("PodIP", "Service", "Host"),
                         [](const auto& param_info) { return std::string(param_info.param); });

// One pass at a time, with a manual clock.
struct PendingSuccessTest : OnePassTest {
  std::atomic<bool> ending{false};
  std::unique_ptr<Kubelet> kubelet{};

  std::string indexes() { return api::look_text(job(), "/status/worker/completedIndexes"); }
  // The operator has seen the first worker succeed, and delays the write of the status.
  void first_succeeds() {
    begin();
    kubelet = std::make_unique<Kubelet>(server, "train", [this](const std::string& name, int run) {
      return ending ? ends_first(name, run) : "Running";
    });
    until([&] { return pass(), phase() == "Running"; });
    ending = true;
    until([&] { return pass().requeue_after == 1s; });
    EXPECT_EQ(phase(), "Running");
    EXPECT_EQ(indexes(), "");
  }
  void expect_it_continues() {
    EXPECT_EQ(phase(), "Running");
    EXPECT_FALSE(job()["status"].contains("epoch"));
    EXPECT_EQ(names(kinds::kPods), std::set<std::string>{"resnet-worker-1"});
    EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 2u);
  }
};

TEST_F(PendingSuccessTest, IsWrittenAfterASecond) {
  create_job();
  first_succeeds();
  clock.advance(900ms);
  EXPECT_EQ(pass().requeue_after, 100ms);
  EXPECT_EQ(indexes(), "");
  clock.advance(100ms);
  pass();
  EXPECT_EQ(indexes(), "0");
}

TEST_F(PendingSuccessTest, IsWrittenAtOnceWhenItsPodIsDeleted) {
  create_job();
  first_succeeds();
  ASSERT_TRUE(server.remove(kinds::kPods, kFirst));
  until([&] { return pass(), indexes() == "0"; });
  expect_it_continues();
}

TEST_F(PendingSuccessTest, IsKeptUntilTheServerStoresIt) {
  create_job({{"intranet", "Service"}});
  std::atomic<bool> refused{false};
  fault = [&](const kube::Request& request, size_t) {
    const bool status = request.verb == Verb::kUpdate && request.sub == "status";
    return refused && status ? std::optional<kube::Fault>({.code = Code::kConflict}) : std::nullopt;
  };
  first_succeeds();
  refused = true;
  ASSERT_TRUE(server.remove(kinds::kPods, kFirst));
  until([&] { return reconcile(key, {}).is(Code::kConflict); });
  EXPECT_TRUE(reconcile(key, {}).is(Code::kConflict));
  refused = false;
  pass();
  EXPECT_EQ(indexes(), "0");
  pass();
  expect_it_continues();
}

// It does not count for a later job of the same name.
TEST_F(PendingSuccessTest, BelongsToThisJobOnly) {
  create_job();
  first_succeeds();
  ASSERT_TRUE(server.remove(kinds::kPaddleJobs, key));
  kubelet.reset();
  for (const std::string& name : names(kinds::kPods)) {
    (void)server.remove(kinds::kPods, {"train", name}, {.grace_seconds = 0});
  }
  create_job();
  const auto uid = job()["metadata"]["uid"];
  until([&] { return (void)reconcile(key, {}), names(kinds::kPods).size() == 2; });
  for (const std::string& name : names(kinds::kPods)) {
    EXPECT_EQ((*server.get(kinds::kPods, {"train", name}))["metadata"]["ownerReferences"][0]["uid"],
              uid);
  }
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
