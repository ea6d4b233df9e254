// SPDX-License-Identifier: Apache-2.0
//
// Jobs with a gate on their data, on one machine with real runtimes: sets whose first sync fails,
// that do not fit into their cache, or whose cache was cleared.

#include <gmock/gmock.h>

#include "test/cli/sample_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using testing::HasSubstr;
using Pointer = nlohmann::json::json_pointer;

constexpr std::size_t kMib = 1 << 20;

class LocalDataGate : public SampleJobsTest {
 protected:
  void put_samples(int count) {
    for (int i = 0; i < count; ++i) {
      s3_.put("set/" + std::to_string(i), std::string(kMib, static_cast<char>('a' + i)));
    }
  }
  // `cache`: more of its level, "cacheSize: 8".
  std::string set(const std::string& bucket, const std::string& cache = "",
                  const std::string& more = "") const {
    return secret("keys", s3_, keys_) +
           "---\n{apiVersion: batch.paddlepaddle.org/v1alpha1, kind: SampleSet, metadata: {name: " +
           kSet + "}, spec: {" + more + "partitions: 1, source: {uri: \"s3://" + bucket +
           "/set\", secretRef: {name: keys}}, cache: {levels: [{mediumType: SSD, path: " + disk_ +
           (cache.empty() ? "" : ", " + cache) + "}]}, csi: {driver: samplefs}}}\n";
  }
  void wait_ready() const {
    must({"wait", std::string("sampleset/") + kSet, "--for=phase=Ready", "--timeout=120s"});
  }
  // A job of one worker, which counts the files that it finds. `gate`: "timeoutSeconds: 1".
  static std::string counts(const std::string& name, const std::string& gate = "") {
    return "---\n{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: " +
           name + "}, spec: {cleanPodPolicy: Never, sampleSetRef: {name: " + kSet +
           ", mountPath: /data, gate: {" + gate +
           "}}, worker: {replicas: 1, template: {spec: {containers: [{name: main, image: x, "
           "command: [sh, -c, 'cat /data/* | wc -c']}]}}}}}\n";
  }
  // "False NoRoom: message", or nothing.
  std::string condition(const std::string& job, const std::string& type) const {
    for (const auto& each :
         get("pdj", job).value(Pointer("/status/conditions"), nlohmann::json::array())) {
      if (each.value("type", "") != type) continue;
      return each.value("status", "") + " " + each.value("reason", "") + ": " +
             each.value("message", "");
    }
    return "";
  }
  bool gated(const std::string& job) const {
    const auto spec = get("pod", job + "-worker-0").value("spec", nlohmann::json::object());
    return !spec.value("schedulingGates", nlohmann::json::array()).empty() &&
           !spec.contains("nodeName");
  }
  std::string sync_of_set() const {
    return get("sampleset", kSet).value(Pointer("/status/jobsName/syncJobName"), "");
  }
  void expect_read(const std::string& job, std::size_t bytes) const {
    must({"wait", "pdj/" + job, "--for=phase=Completed", "--timeout=120s"});
    EXPECT_EQ(must({"logs", job + "-worker-0"}), std::to_string(bytes) + "\n");
  }
};

TEST_F(LocalDataGate, NoTimeoutStartsAJobBeforeTheFirstSync) {
  put_samples(3);
  apply(set("missing") + counts("hurries", "timeoutSeconds: 1"));
  ASSERT_TRUE(eventually([&] {
    return condition("hurries", "Ready").find("SyncFailed") != std::string::npos;
  })) << condition("hurries", "Ready");
  const std::string said = condition("hurries", "Ready");
  EXPECT_TRUE(said.starts_with("False SampleSetNotSynced: ")) << said;
  EXPECT_THAT(said, HasSubstr("missing")) << "the set's own reason";
  EXPECT_THAT(said, HasSubstr("correct the SampleSet's source or its Secret"));
  // The second attempt comes 10 s after the first: the gate's timeout of 1 s has passed by then.
  const std::string first = sync_of_set();
  ASSERT_TRUE(eventually([&] { return sync_of_set() != first; }, std::chrono::seconds{60}));
  EXPECT_TRUE(gated("hurries")) << get("pod", "hurries-worker-0");
  EXPECT_EQ(condition("hurries", "DataWarm"), "");

  // While an attempt runs, the source cannot be changed.
  ASSERT_TRUE(eventually(
      [&] { return get("sampleset", kSet).value(Pointer("/status/phase"), "") == "SyncFailed"; }));
  apply(set(source::FakeS3::kBucket));
  expect_read("hurries", 3 * kMib);
}

TEST_F(LocalDataGate, ASetThatDoesNotFitIntoItsCacheOpensTheGate) {
  put_samples(16);
  apply(set(source::FakeS3::kBucket, "cacheSize: 8") + counts("reads"));
  expect_read("reads", 16 * kMib);
  wait_ready();
  const std::string said = condition("reads", "DataWarm");
  EXPECT_TRUE(said.starts_with("False NoRoom: partition 0 is full at ")) << said;
  EXPECT_THAT(said, HasSubstr("the rest is read from the source"));
}

TEST_F(LocalDataGate, AClearedCacheOpensTheGateUnlessUsersWarmUpThemselves) {
  put_samples(4);
  apply(set(source::FakeS3::kBucket) + counts("warm"));
  expect_read("warm", 4 * kMib);
  EXPECT_EQ(condition("warm", "DataWarm"), "");
  wait_ready();

  succeeds("clear", "clear");
  ASSERT_TRUE(figures(4 * kMib, 0));
  apply(counts("cold"));
  expect_read("cold", 4 * kMib);
  EXPECT_TRUE(
      condition("cold", "DataWarm").starts_with("False CacheCleared: partition 0 is at 0 %"))
      << condition("cold", "DataWarm");

  apply(set(source::FakeS3::kBucket, "", "warmup: {enabled: false}, "));
  succeeds("clear-again", "clear");
  ASSERT_TRUE(figures(4 * kMib, 0));
  apply(counts("waits"));
  ASSERT_TRUE(eventually([&] {
    return condition("waits", "Ready").find("create a SampleJob of type warmup") !=
           std::string::npos;
  })) << condition("waits", "Ready");
  EXPECT_TRUE(gated("waits"));
  succeeds("warmup", "warmup");
  expect_read("waits", 4 * kMib);
  EXPECT_EQ(condition("waits", "DataWarm"), "");
}

}  // namespace
}  // namespace paddle::test
