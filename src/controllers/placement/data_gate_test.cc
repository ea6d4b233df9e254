// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/data_gate.h"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::controllers::placement {
namespace {

using api::Json;
using std::chrono::seconds;

const WallTime kStart{seconds{1'700'000'000}};

api::SampleSetMount ref_of(std::optional<int> percent = {}, std::optional<int> timeout = {}) {
  api::SampleSetMount ref{.name = "imagenet", .mount_path = "/data"};
  ref.gate = api::DataGate{.warm_percent = percent, .timeout_seconds = timeout};
  return ref;
}

DataSummary warm_to(const std::vector<int>& percents) {
  DataSummary data{.set = api::SampleSet{}, .claim = ClaimSummary{.phase = "Bound"}};
  data.set->meta.key = {"t", "imagenet"};
  data.set->spec.partitions = static_cast<int>(percents.size());
  data.set->status.phase = "PartialReady";
  int index = 0;
  for (const int percent : percents) {
    data.set->status.partitions.push_back(
        {.index = index++, .total_bytes = 1000, .cached_bytes = 10L * percent, .ready = true});
  }
  return data;
}

GateRequest workers(int count, std::optional<int> least = {}) {
  return {.workers = count, .min_workers = least, .since = kStart};
}

bool opens(const api::SampleSetMount& ref, const DataSummary& data, const GateRequest& request) {
  return decide_gate(ref, data, request, kStart).open;
}

TEST(DataGate, OpensWhenEveryPartitionInUseIsWarmEnough) {
  EXPECT_FALSE(opens(ref_of(80), warm_to({80, 79}), workers(2)));
  EXPECT_TRUE(opens(ref_of(80), warm_to({80, 80}), workers(2)));
  EXPECT_TRUE(opens(ref_of(80), warm_to({80, 0}), workers(1))) << "no worker reads partition 1";
  EXPECT_TRUE(opens(ref_of(80), warm_to({80, 80}), workers(5))) << "workers beyond are free";
  EXPECT_FALSE(opens(ref_of(), warm_to({99}), workers(1))) << "100 % by default";
  EXPECT_TRUE(opens(ref_of(), warm_to({100}), workers(1)));
}

TEST(DataGate, AnElasticJobNeedsOnlyItsMinimumOfWorkers) {
  EXPECT_FALSE(opens(ref_of(50), warm_to({0, 50, 0, 0}), workers(4, 2)));
  EXPECT_TRUE(opens(ref_of(50), warm_to({0, 50, 0, 60}), workers(4, 2)));
  EXPECT_TRUE(opens(ref_of(50), warm_to({50}), workers(4, 2))) << "there is one partition only";
}

TEST(DataGate, ReportsWhatIsMissing) {
  const auto decision = decide_gate(ref_of(80), warm_to({80, 12}), workers(2), kStart);
  EXPECT_EQ(decision.reason.reason, "DataNotWarm");
  EXPECT_EQ(
      decision.reason.message,
      "waiting for the SampleSet imagenet: 1 of 2 partitions are 80 % warm, partition 1 is at "
      "12 %");
  EXPECT_EQ(decision.retry_after, std::nullopt) << "the SampleSet's own changes wake us";
  auto data = warm_to({100});
  data.claim.reset();
  EXPECT_EQ(decide_gate(ref_of(), data, workers(1), kStart).reason.reason, "ClaimMissing");
  EXPECT_EQ(decide_gate(ref_of(), {}, workers(1), kStart).reason.reason, "SampleSetMissing");
}

TEST(DataGate, APartitionThatHasNotReportedIsCold) {
  auto data = warm_to({100, 100});
  data.set->status.partitions.pop_back();
  EXPECT_FALSE(opens(ref_of(1), data, workers(2)));
}

TEST(DataGate, TheTimeoutOpensItForASyncedSetHoweverColdAndIsReported) {
  const auto ref = ref_of(80, 60);
  auto decision = decide_gate(ref, warm_to({0}), workers(1), kStart + seconds{20});
  EXPECT_FALSE(decision.open);
  EXPECT_EQ(decision.retry_after, seconds{40});
  decision = decide_gate(ref, warm_to({0}), workers(1), kStart + seconds{60});
  EXPECT_TRUE(decision.open);
  EXPECT_EQ(decision.reason.reason, "DataGateTimedOut");
  auto data = warm_to({0});
  data.claim.reset();
  EXPECT_TRUE(decide_gate(ref, data, workers(1), kStart + seconds{61}).open);

  GateRequest no_pods_yet{.workers = 1};
  EXPECT_FALSE(decide_gate(ref, warm_to({0}), no_pods_yet, kStart + seconds{1000}).open);
}

TEST(DataGate, NoTimeoutOpensItBeforeTheFirstSync) {
  const auto ref = ref_of(80, 60);
  const auto late = kStart + seconds{6000};
  auto data = warm_to({0});
  data.set->status.phase = "SyncFailed";
  data.set->status.conditions = {{.type = "Ready",
                                  .status = "False",
                                  .reason = "SyncFailed",
                                  .message = "the source could not be read: NoSuchBucket"}};
  const auto decision = decide_gate(ref, data, workers(1), late);
  EXPECT_FALSE(decision.open);
  EXPECT_EQ(decision.reason.reason, "SampleSetNotSynced");
  EXPECT_EQ(
      decision.reason.message,
      "waiting for the first sync of the SampleSet imagenet, which is SyncFailed; the source "
      "could not be read: NoSuchBucket; correct the SampleSet's source or its Secret; the "
      "sync is retried automatically; gate.timeoutSeconds does not start the job before that");
  EXPECT_EQ(decision.retry_after, std::nullopt) << "its time is up, and that changes nothing";
  EXPECT_FALSE(decide_gate(ref, {}, workers(1), late).open) << "one made again may fail to sync";

  data.set->status.phase = "PartialReady";
  EXPECT_TRUE(decide_gate(ref, data, workers(1), late).open) << "a later failure takes none away";
  data.set->status.phase = "Mount";
  EXPECT_FALSE(decide_gate(ref, data, workers(1), late).open);
  data.set->spec.no_sync = true;
  EXPECT_TRUE(decide_gate(ref, data, workers(1), late).open) << "nothing is ever synced";
}

// Runtimes of an engine with one volume for all are ready before there is anything in it.
TEST(DataGate, AnEmptyPartitionIsNotWarmBeforeTheFirstSync) {
  auto data = warm_to({0});
  data.set->status.partitions[0].total_bytes = 0;
  EXPECT_TRUE(opens(ref_of(), data, workers(1))) << "a set without samples";
  data.set->status.phase = "Syncing";
  EXPECT_FALSE(opens(ref_of(), data, workers(1)));
}

TEST(DataGate, ACheckThatIsAFractionOfASecondEarlyIsRepeated) {
  const auto decision = decide_gate(ref_of(80, 60), warm_to({0}), workers(1),
                                    kStart + seconds{60} - std::chrono::milliseconds{1});
  EXPECT_FALSE(decision.open);
  EXPECT_EQ(decision.retry_after, seconds{1});
}

TEST(DataGate, OpensForAPartitionThatIsAsWarmAsItCanBeAndReportsWhatIsMissing) {
  auto data = warm_to({100, 60});
  EXPECT_FALSE(opens(ref_of(), data, workers(2)));
  const std::map<std::string, std::string> cases{
      {api::uncached::kNoRoom,
       "NoRoom: partition 1 is full at 60 %: the rest is read from the source; give the SampleSet "
       "imagenet a larger spec.cache or more partitions"},
      {api::uncached::kCleared,
       "CacheCleared: partition 1 is at 60 % since its cache was cleared: the rest is read from "
       "the "
       "source; a SampleJob of type warmup brings it into the cache"},
      {api::uncached::kPartly,
       "PartlyCached: partition 1 is at 60 % though its warm-up has ended: the rest is read from "
       "the source; a SampleJob of type warmup brings it into the cache"},
      {api::uncached::kWarmupFailed,
       "WarmupFailed: partition 1 is at 60 %, its warm-up fails: the rest is read from the source; "
       "see kubectl describe sampleset imagenet"}};
  for (const auto& [reason, expected] : cases) {
    data.set->status.partitions[1].uncached_reason = reason;
    const auto decision = decide_gate(ref_of(), data, workers(2), kStart);
    EXPECT_TRUE(decision.open);
    EXPECT_EQ(decision.reason.reason + ": " + decision.reason.message, expected);
    EXPECT_EQ(decide_gate(ref_of(60), data, workers(2), kStart), GateDecision{.open = true})
        << "as warm as wanted";
  }
  data.set->meta.generation = 2;
  EXPECT_FALSE(opens(ref_of(), data, workers(2))) << "the status is of an earlier spec";
  data.set->status.observed_generation = 2;
  data.set->status.partitions[0].cached_bytes = 999;  // its warm-up goes on
  const auto decision = decide_gate(ref_of(), data, workers(2), kStart);
  EXPECT_FALSE(decision.open);
  EXPECT_EQ(decision.reason.message,
            "waiting for the SampleSet imagenet: 1 of 2 partitions are 100 % warm or as warm as "
            "they can be, partition 0 is at 99.9 %");
  EXPECT_TRUE(opens(ref_of(), data, workers(2, 1))) << "an elastic job needs one";
}

TEST(DataGate, ReportsThatASetWithoutAutomaticWarmUpNeedsASampleJob) {
  auto data = warm_to({10});
  data.set->spec.warmup = api::AutoWarmup{.enabled = false};
  const auto decision = decide_gate(ref_of(), data, workers(1), kStart);
  EXPECT_FALSE(decision.open);
  EXPECT_NE(decision.reason.message.find("create a SampleJob of type warmup"), std::string::npos);
}

TEST(WarmPartition, IsComparedByBytes) {
  const auto warm = [](std::int64_t total, std::int64_t cached, int percent) {
    return is_warm({.total_bytes = total, .cached_bytes = cached}, percent);
  };
  EXPECT_FALSE(warm(1000, 999, 100));
  EXPECT_TRUE(warm(1000, 1000, 100));
  EXPECT_TRUE(warm(1000, 5000, 100));
  EXPECT_FALSE(warm(3, 1, 34));
  EXPECT_TRUE(warm(3, 1, 33));
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_TRUE(warm(100, percent, percent)) << percent;
    EXPECT_FALSE(warm(100, percent - 1, percent)) << percent;
  }
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_TRUE(warm(kHuge, kHuge / 2, 50));
  EXPECT_FALSE(warm(kHuge, kHuge / 2 - 1, 50));
  EXPECT_TRUE(is_warm({.total_bytes = 0, .ready = true}, 100)) << "an empty set";
  EXPECT_FALSE(is_warm({.total_bytes = 0, .ready = false}, 1)) << "nothing known yet";
}

TEST(WarmPermille, IsRoundedDownAndWithinBounds) {
  EXPECT_EQ(warm_permille({.total_bytes = 1000, .cached_bytes = 999}), 999);
  EXPECT_EQ(warm_permille({.total_bytes = 10'000, .cached_bytes = 9'999}), 999);
  EXPECT_EQ(warm_permille({.total_bytes = 1000, .cached_bytes = 5000}), 1000);
  EXPECT_EQ(warm_permille({.total_bytes = 1000, .cached_bytes = -5}), 0);
  EXPECT_EQ(warm_permille({.total_bytes = 0, .ready = true}), 1000) << "an empty set";
  EXPECT_EQ(warm_permille({.total_bytes = 0, .ready = false}), 0) << "nothing known yet";
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(warm_permille({.total_bytes = kHuge, .cached_bytes = kHuge / 2}), 500);
}

TEST(RemoveGatePatch, RemovesOurGateByItsIndexAndSetsTheAffinity) {
  const Json desired = {{"affinity", {{"nodeAffinity", {{"x", 1}}}}}, {"hostNetwork", true}};
  const auto patch = remove_gate_patch("uid-1", {"other/gate", kDataGate}, desired);
  ASSERT_TRUE(patch);
  EXPECT_EQ(*patch, Json::parse(R"([
      {"op":"test","path":"/metadata/uid","value":"uid-1"},
      {"op":"test","path":"/spec/schedulingGates/1/name","value":"batch.paddlepaddle.org/data-ready"},
      {"op":"remove","path":"/spec/schedulingGates/1"},
      {"op":"add","path":"/spec/affinity","value":{"nodeAffinity":{"x":1}}}])"));
  EXPECT_EQ(remove_gate_patch("uid-1", {kDataGate}, Json::object())->size(), 3u);
  EXPECT_EQ(remove_gate_patch("uid-1", {"other/gate"}, desired), std::nullopt);
}

TEST(AddGate, IsAddedOnceBesideTheUsersGates) {
  Json spec = Json::parse(R"({"schedulingGates":[{"name":"other/gate"}]})");
  add_gate(spec);
  add_gate(spec);
  EXPECT_EQ(spec["schedulingGates"].dump(),
            R"([{"name":"other/gate"},{"name":"batch.paddlepaddle.org/data-ready"}])");
}

}  // namespace
}  // namespace paddle::controllers::placement
