// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/juicefs_output.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

constexpr const char* kLog =
    "2026/11/16 07:04:49.718860 juicefs[44] <INFO>: Meta address: redis://h:1/0 "
    "[NewClient@interface.go:643]\n"
    "2026/11/16 07:04:49.751136 juicefs[44] <INFO>: Prometheus metrics listening on "
    "\"127.0.0.1:33309\" [exposeMetrics@mount.go:137]\n"
    "2026/11/16 07:04:50.000000 juicefs[44] <ERROR>: first [a@b.go:1]\n"
    "2026/11/16 07:04:51.000000 juicefs[44] <FATAL>: \x1b[91mno [such] bucket\x1b[0m. "
    "[format@format.go:9]\n"
    "goodbye\n";

TEST(FailureReason, IsTheFatalLineWithoutTimeAndPosition) {
  EXPECT_EQ(failure_reason(kLog, {}), "no [such] bucket");
}

TEST(FailureReason, IsTheLastErrorOrTheLastLineWithoutAFatalOne) {
  EXPECT_EQ(failure_reason("x <ERROR>: one [a@b.go:1]\ny <ERROR>: two [a@b.go:2]\nz\n", {}), "two");
  EXPECT_EQ(failure_reason("one\ntwo\r\n", {}), "two");
  EXPECT_EQ(failure_reason("", {}), "it printed nothing");
  EXPECT_LE(failure_reason(std::string(10'000, 'x'), {}).size(), 400u);
}

TEST(FailureReason, HidesASecretThatIsCutAtItsEnd) {
  const std::string output = std::string(390, 'x') + "canary/secret+key and more";
  const std::string words = failure_reason(output, {"canary/secret+key"});
  EXPECT_EQ(words.find("canary"), std::string::npos) << words;
  const auto left = left_out("<WARNING>: skip x: denied " + output, {"canary/secret+key"});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->find("canary"), std::string::npos) << *left;
}

TEST(SkippedObject, IsFoundInTheLogOfASyncThatWasDeniedAccess) {
  EXPECT_FALSE(
      left_out("2026/11/16 08:00:00 juicefs[7] <WARNING>: skip x: it is a socket [a.go:1]\n", {}));
  const auto found = left_out(
      "2026/11/16 08:00:00.1 juicefs[7] <INFO>: Syncing from a to b [sync.go:1]\n"
      "2026/11/16 08:00:00.2 juicefs[7] <WARNING>: skip /samples/: readdir /samples/: permission "
      "denied [List@hdfs.go:240]\n",
      {});
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("skip /samples/"), std::string::npos) << *found;
}

TEST(Redacted, HidesPlainAndPercentEncodedSecrets) {
  const std::vector<std::string> secrets{"a/b+c", "a/b+cd", "xy", ""};
  EXPECT_EQ(redacted("key a/b+c url a%2Fb%2Bc longer a/b+cd short xy", secrets),
            "key *** url *** longer *** short xy");
  EXPECT_EQ(redacted("nothing", {}), "nothing");
}

TEST(MetricsAddress, IsFoundInTheLog) {
  EXPECT_EQ(metrics_address(kLog), "127.0.0.1:33309");
  EXPECT_EQ(metrics_address("metrics listening on \"127."), std::nullopt);
  EXPECT_EQ(metrics_address("nothing"), std::nullopt);
}

TEST(MetricValue, IsReadWithAndWithoutLabels) {
  const std::string text =
      "# HELP juicefs_sync_copied x\n"
      "juicefs_sync_copied_bytes{cmd=\"sync\",pid=\"7\"} 1.5e+06\n"
      "juicefs_sync_copied{cmd=\"sync\",pid=\"7\"} 12\n"
      "juicefs_blockcache_bytes 8400000\n"
      "broken x\n";
  EXPECT_EQ(metric_value(text, "juicefs_sync_copied"), 12);
  EXPECT_EQ(metric_value(text, "juicefs_sync_copied_bytes"), 1.5e6);
  EXPECT_EQ(metric_value(text, "juicefs_blockcache_bytes"), 8400000);
  EXPECT_EQ(metric_value(text, "broken"), std::nullopt);
  EXPECT_EQ(metric_value(text, "juicefs"), std::nullopt);
  EXPECT_EQ(metric_value("", "x"), std::nullopt);
}

TEST(SyncProgress, ComesFromTheMetricsOfASync) {
  const auto progress = sync_progress(
      "juicefs_sync_scanned_total{pid=\"1\"} 100\njuicefs_sync_handled{pid=\"1\"} 40\n"
      "juicefs_sync_failed{pid=\"1\"} 3\njuicefs_sync_copied_bytes{pid=\"1\"} 777\n");
  EXPECT_EQ(progress,
            (Progress{.files_total = 100, .files_done = 37, .files_failed = 3, .bytes_done = 777}));
}

TEST(SyncOutcome, ComesFromTheLastLineOfTheLog) {
  const auto outcome = sync_outcome(
      "x <INFO>: Found: 210, excluded: 0 (0 B), skipped: 9 (9.00 KiB), copied: 200 (8.00 MiB), "
      "extra: 1 (1 B), deleted: 0, failed: 1 [s.go:1]\n");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(
      *outcome,
      (Progress{.files_total = 210, .files_done = 209, .files_failed = 1, .bytes_done = 8 << 20}));
  EXPECT_EQ(sync_outcome("Found: 3, copied: 3 (12 B), failed: 0")->bytes_done, 12);
  EXPECT_EQ(sync_outcome("nothing of the kind"), std::nullopt);
}

TEST(ClientLife, IsTheStartTimeOfTheClient) {
  EXPECT_EQ(client_life("juicefs_uptime 3\njuicefs_process_start_time_seconds 1.78e+09\n"),
            "1780000000000");
  EXPECT_EQ(client_life("juicefs_process_start_time_seconds 1780000000.25\n"), "1780000000250");
  EXPECT_EQ(client_life("juicefs_uptime 3\n"), "");
  EXPECT_EQ(client_life("juicefs_process_start_time_seconds 1e300\n"), "");
}

TEST(MountConfig, TellsInWhichModeTheDriverRuns) {
  const auto pod = parse_config(
      R"({"Format":{"Name":"v","UUID":"u-1"},"Chunk":{"CacheSize":1073741824},
          "Meta":{"MountPoint":"/jfs/handle-abcdef"},"Mountpoint":""})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(*pod, (MountConfig{
                      .mountpoint = "/jfs/handle-abcdef", .volume = "u-1", .cache_size = 1 << 30}));
  EXPECT_TRUE(parse_config(R"({"Meta":{"MountPoint":"/var/lib/jfs/handle"}})")->by_process);
  EXPECT_TRUE(parse_config("[]").is(Code::kInvalid));
  EXPECT_TRUE(parse_config("{").is(Code::kInvalid));
  EXPECT_TRUE(parse_config(R"({"Format":3,"Chunk":[],"Meta":{"MountPoint":{}}})"));
}

}  // namespace
}  // namespace paddle::engine::juicefs
