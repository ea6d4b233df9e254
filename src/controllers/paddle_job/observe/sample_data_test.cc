// SPDX-License-Identifier: Apache-2.0
//
// What a job reads of SampleSets, nodes and claims, and which changes of a set enqueue it.

#include "controllers/paddle_job/observe/world_observer.h"
#include "controllers/paddle_job/testing/reconciler_fixture.h"
#include "engine/names.h"

namespace paddle::controllers::paddle_job {
namespace {

const Json kRef = {{"sampleSetRef", {{"name", "imagenet"}, {"mountPath", "/data"}}}};

struct SampleDataTest : OnePassTest {
  PassPacing pacing{queue, events, clock};
  std::unique_ptr<WorldObserver> observer{};
  int sentinel = 0;

  void create_set(const std::string& name, int partitions) {
    ASSERT_TRUE(
        server.create(kinds::kSampleSets, {{"apiVersion", api::SampleSet::kApiVersion},
                                           {"kind", api::SampleSet::kKind},
                                           {"metadata", {{"namespace", "train"}, {"name", name}}},
                                           {"spec", {{"partitions", partitions}}}}));
    report(name, {{"phase", "Ready"}, {"engine", "juicefs"}});
  }
  void report(const std::string& set, const Json& status) {
    ASSERT_TRUE(
        server.patch(kinds::kSampleSets, {"train", set}, {.body = {{"status", status}}}, "status"));
  }
  void report_warmth(int cached) {
    report("imagenet", {{"partitions", Json::array({Json{{"index", 0},
                                                         {"node", "n0"},
                                                         {"totalBytes", 100},
                                                         {"cachedBytes", cached},
                                                         {"ready", true}}})}});
  }
  void create_claim(const std::string& name, const Json& labels) {
    ASSERT_TRUE(server.create(
        kinds::kClaims, {{"metadata", {{"namespace", "train"}, {"name", name}, {"labels", labels}}},
                         {"status", {{"phase", "Bound"}}}}));
  }
  void start() {
    observer = std::make_unique<WorldObserver>(
        ControllerContext{failing, informers, events, queue, metrics}, "", Config{}, nullptr,
        pacing, clock);
    informers.start();
    ASSERT_TRUE(informers.wait_until_synced({}));
    drain();
  }
  World observe() {
    JobCache cache;
    Pass round{.cache = cache};
    while (true) {  // until the informers that start with the first such job have their lists
      auto world = observer->observe(*observer->find(key), round);
      EXPECT_TRUE(world);
      if (*world) return **std::move(world);
      system_clock().sleep(std::chrono::milliseconds{2}, {});
    }
  }
  // The jobs that were enqueued up to now. A change of a second set, which comes by the same watch,
  // marks the end.
  std::set<std::string> enqueued() {
    report("second", {{"phase", ++sentinel % 2 == 1 ? "Syncing" : "Ready"}});
    std::set<std::string> names;
    while (!names.contains("sentinel")) {
      const auto taken = queue.take({});
      names.insert(taken->key.name);
      queue.finished(taken->key);
    }
    names.erase("sentinel");
    return names;
  }
};

TEST_F(SampleDataTest, OfFiveThousandNodesOnlyTheLabelsOfTheSetReachThePlan) {
  constexpr int kPartitions = 500;
  create_set("imagenet", kPartitions);
  api::SampleSet set;
  set.meta.key = {"train", "imagenet"};
  for (int i = 0; i < 5000; ++i) {
    Json labels = {{"kubernetes.io/hostname", "n" + std::to_string(i)},
                   {"paddlepaddle.org/juicefs-other", "other-runtime-" + std::to_string(i)}};
    if (i < kPartitions) labels[engine::node_label(set)] = engine::runtime_pod_name(set, i);
    ASSERT_TRUE(server.create(
        kinds::kNodes,
        {{"metadata", {{"name", "n" + std::to_string(i)}, {"labels", std::move(labels)}}},
         {"status", {{"phase", "Running"}}}}));
  }
  create_job(kRef);
  start();
  const World world = observe();
  ASSERT_EQ(world.data.node_labels.size(), 1u);
  EXPECT_EQ(world.data.node_labels.begin()->second.size(), 500u);
  EXPECT_EQ(placement::required_runtime(*observer->find(key)->spec.sample_set, world.data, 499),
            "imagenet-runtime-499");
}

TEST_F(SampleDataTest, OnlyClaimsOfSampleSetsAreRead) {
  create_set("imagenet", 1);
  create_claim("imagenet", Json::object());
  create_job(kRef);
  start();
  EXPECT_FALSE(observe().data.claim) << "a user's claim of the same name";
  ASSERT_TRUE(
      server.patch(kinds::kClaims, {"train", "imagenet"},
                   {.body = {{"metadata", {{"labels", {{engine::kSetLabel, "imagenet"}}}}}}}));
  until([&] { return observe().data.claim.has_value(); });
}

TEST_F(SampleDataTest, AChangeOfASetEnqueuesOnlyUnfinishedJobsThatReadIt) {
  create_set("imagenet", 1);
  create_set("second", 1);
  create_job({{"sampleSetRef", {{"name", "second"}, {"mountPath", "/data"}}}}, "sentinel");
  create_job(kRef);
  create_job(kRef, "finished");
  ASSERT_TRUE(server.patch(kinds::kPaddleJobs, {"train", "finished"},
                           {.body = {{"status", {{"phase", "Completed"}}}}}, "status"));
  Json gated = kRef;
  gated["sampleSetRef"]["gate"] = Json::object();
  create_job(gated, "gated");
  report_warmth(10);
  start();
  const std::set<std::string> none;
  EXPECT_EQ(enqueued(), none);
  report("imagenet", {{"cacheStatus", {{"cachedSize", "1 KiB"}}}});
  EXPECT_EQ(enqueued(), none) << "no job reads the sizes as text";
  report_warmth(11);
  EXPECT_EQ(enqueued(), std::set<std::string>{"gated"});
  report("imagenet", {{"phase", "PartialReady"}});
  EXPECT_EQ(enqueued(), (std::set<std::string>{"gated", "resnet"}));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
