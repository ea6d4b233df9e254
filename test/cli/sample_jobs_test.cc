// SPDX-License-Identifier: Apache-2.0
//
// SampleJobs on one machine: the tutorial's sequence with its table, a second source, schedules,
// and cancellation.

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "base/base64.h"
#include "runtime/client.h"
#include "source/checksum.h"
#include "source/hash.h"
#include "test/cli/sample_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kMib = 1 << 20;

class LocalSampleJobs : public SampleJobsTest {
 protected:
  // 24 samples of 1 MiB to train on, 8 to check with.
  void put_samples() {
    for (int i = 0; i < 24; ++i) put("train/" + std::to_string(i));
    for (int i = 0; i < 8; ++i) put("val/" + std::to_string(i));
  }
  void put(const std::string& path) {
    s3_.put("set/" + path, path + std::string(kMib - path.size(), 'x'));
  }
  double fetched_of(const std::string& path) { return fetched(s3_, "set/" + path, kMib); }

  struct Row {
    std::string total{};
    std::string cached{};
    double avail = 0;
  };
  // On a busy machine the runtime may not answer for a moment: RUNTIME counts ready pods, PHASE
  // runtimes that answer.
  Row ready_row() const {
    auto cells = row();
    eventually([&] {
      if (cells["RUNTIME"] == "1/1" && cells["PHASE"] == "Ready") return true;
      cells = row();
      return false;
    });
    EXPECT_EQ(cells["PHASE"], "Ready");
    EXPECT_EQ(cells["RUNTIME"], "1/1");
    return {cells["TOTAL SIZE"], cells["CACHED SIZE"], bytes_in(cells["AVAIL SPACE"])};
  }
  // Files beneath a directory that hold the text; those with `but_not` in their path aside.
  static std::vector<std::string> files_with(const std::string& directory, const std::string& text,
                                             const std::string& but_not = "//") {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::recursive_directory_iterator(directory)) {
      const std::string path = each.path();
      if (!each.is_regular_file() || path.find(but_not) != path.npos) continue;
      if (read_file(path).find(text) != std::string::npos) found.push_back(path);
    }
    return found;
  }
  // The phase of a job on the runtime itself.
  std::string state_at_runtime(const std::string& id) const {
    const auto pod = get("pod", std::string(kSet) + "-runtime-0");
    const auto held = get("secret", std::string(kSet) + "-runtime");
    const auto token = base64_decode(held["data"]["token"].get<std::string>());
    if (!token) return token.error().message;
    runtime::Client client(runtime::address_of(pod["status"]["podIP"]), *token);
    const auto report = client.job(id);
    return report ? to_string(report->state) : report.error().message;
  }
};

TEST_F(LocalSampleJobs, TheTutorialsSequenceShowsItsTable) {
  put_samples();
  make_set();
  ASSERT_TRUE(figures(32 * kMib, 32 * kMib));
  const Row before = ready_row();
  EXPECT_EQ(before.total, "32 MiB");
  EXPECT_EQ(before.cached, "32 MiB");

  succeeds("rmr", "rmr", "rmrOptions: {paths: [/train]}");
  ASSERT_TRUE(figures(8 * kMib, 8 * kMib));
  const Row removed = ready_row();
  EXPECT_EQ(removed.total, "8.0 MiB");
  EXPECT_EQ(removed.cached, "8.0 MiB");
  EXPECT_NEAR(removed.avail - before.avail, 24 * kMib, 1.6 * kMib);
  EXPECT_EQ(in_worker("ls /data"), "val\n");

  succeeds("sync", "sync");
  ASSERT_TRUE(figures(32 * kMib, 32 * kMib)) << "warmed up by itself";
  const Row synced = ready_row();
  EXPECT_EQ(synced.total, "32 MiB");
  EXPECT_EQ(synced.cached, "32 MiB");
  EXPECT_NEAR(synced.avail, before.avail, 1.6 * kMib);
  EXPECT_EQ(in_worker("ls /data; ls /data/train | wc -l"), "train\nval\n24\n");

  succeeds("clear", "clear");
  ASSERT_TRUE(figures(32 * kMib, 0));
  const Row cleared = ready_row();
  EXPECT_EQ(cleared.total, "32 MiB");
  EXPECT_EQ(cleared.cached, "0 B");
  EXPECT_NEAR(cleared.avail - before.avail, 32 * kMib, 1.6 * kMib);

  succeeds("warmup", "warmup");
  ASSERT_TRUE(figures(32 * kMib, 32 * kMib));
  const Row warm = ready_row();
  EXPECT_EQ(warm.total, "32 MiB");
  EXPECT_EQ(warm.cached, "32 MiB");
  EXPECT_NEAR(warm.avail, before.avail, 1.6 * kMib);
  EXPECT_EQ(get("samplejob", "warmup")["status"]["progress"], "100% 32 MiB/32 MiB");

  EXPECT_EQ(fetched_of("val/3"), 2) << "by the first warm-up, and after clear";
  EXPECT_EQ(fetched_of("train/3"), 3) << "and after the sync";
}

TEST_F(LocalSampleJobs, AVerificationReportsPlantedDamageInItsStatusAndRepairsIt) {
  const auto put_with_md5 = [&](const std::string& path, char filler) {
    const std::string bytes = path + std::string(kMib - path.size(), filler);
    s3_.put("set/" + path, bytes,
            source::hex(
                source::digest_of(source::ChecksumKind::kMd5, std::as_bytes(std::span(bytes)))));
  };
  for (int i = 0; i < 4; ++i) put_with_md5("train/" + std::to_string(i), 'x');
  make_set();
  ASSERT_TRUE(figures(4 * kMib, 4 * kMib));
  succeeds("sound", "verify");
  EXPECT_THAT(message_of("sound"), HasSubstr("4 samples checked: all are right"));
  EXPECT_EQ(get("samplejob", "sound")["status"]["progress"], "100% 4.0 MiB/4.0 MiB");

  int flipped = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(disk_)) {
    if (each.path().filename() != "segment.1") continue;
    const std::size_t at = read_file(each.path()).find("train/2xxx");
    ASSERT_NE(at, std::string::npos);
    std::fstream file(each.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at + 300'000));
    file.put('y');
    ++flipped;
  }
  ASSERT_EQ(flipped, 1);
  succeeds("clear", "clear", "clearOptions: {paths: [train/0]}");
  put_with_md5("train/1", 'z');
  succeeds("found", "verify");
  const auto found = get("samplejob", "found")["status"]["verification"];
  EXPECT_EQ(found.value("checked", 0), 4) << found;
  EXPECT_EQ(found.value("compared", 0), 2) << found;
  EXPECT_EQ(found.value("stale", 0), 1) << found;
  // The scrub may have found train/2 before, and dropped it.
  EXPECT_EQ(found.value("corrupt", 0) + found.value("missing", 0), 2) << found;
  std::set<std::string> named;
  for (const auto& each : found["firstProblems"]) named.insert(each["path"]);
  EXPECT_EQ(named, (std::set<std::string>{"train/0", "train/1", "train/2"})) << found;

  succeeds("repair", "verify", "verifyOptions: {repair: true}");
  EXPECT_THAT(message_of("repair"), HasSubstr("1 stale, 2 missing; 2 repaired"));
  EXPECT_EQ(in_worker("cut -c 1-12 /data/train/*"),
            "train/0xxxxx\ntrain/1xxxxx\ntrain/2xxxxx\ntrain/3xxxxx\n")
      << "what is stale is as it was at the last sync";
  ASSERT_TRUE(figures(4 * kMib, 4 * kMib));
}

// Keys as hostile buckets have them, and as consoles and typing errors make them.
TEST_F(LocalSampleJobs, WhatCannotBeAFileIsCountedInStatusAndSaid) {
  put("train/0");
  s3_.put("set/", "");  // marks of directories: nothing is missing
  s3_.put("set/train/", "");
  s3_.put("set/a//b", "x");
  s3_.put("set/../../etc/passwd", "x");
  s3_.put("set/line\nbreak//x", "x");
  s3_.put("set/" + std::string(300, 'n'), "x");
  s3_.put_as_if("set/huge/0", std::uint64_t{1} << 50);
  make_set();
  const auto set = get("sampleset", kSet);
  const auto& index = set["status"]["index"];
  EXPECT_EQ(index.value("leftOut", 0), 5) << index;
  const auto examples = index.value("leftOutExamples", std::vector<std::string>{});
  EXPECT_THAT(examples,
              testing::UnorderedElementsAre(
                  "'huge/0' (larger than 50 TiB)", "'a//b' (an empty part)",
                  "'../../etc/passwd' (a part . or ..)", "'line\\x0abreak//x' (an empty part)",
                  "'" + std::string(80, 'n') + "...' (a part of more than 255 bytes)"));
  std::string condition;
  for (const auto& each : set["status"]["conditions"]) {
    if (each["type"] == "SamplesLeftOut") condition = each["message"];
  }
  EXPECT_THAT(condition, HasSubstr("5 objects of the source are left out: "));
  const auto warned = [&] {
    const auto events = nlohmann::json::parse(must({"get", "events", "-o", "json"}));
    int count = 0;
    for (const auto& each : events["items"]) {
      const bool ours = each.value("reason", "") == "SamplesLeftOut" &&
                        each.value("type", "") == "Warning" &&
                        each.value("message", each.value("note", "")) == condition;
      count += ours ? 1 : 0;
    }
    return count;
  };
  EXPECT_TRUE(eventually([&] { return warned() == 1; })) << must({"get", "events", "-o", "json"});
  EXPECT_EQ(in_worker("cd /data; find . -type f"), "./train/0\n");

  // The job's status reports it as well; it survives a restart of the runtime.
  succeeds("again", "sync");
  EXPECT_THAT(message_of("again"), HasSubstr("5 objects of the source are left out: "));
  for (const pid_t runtime : runtimes()) {
    ::kill(runtime, SIGKILL);
  }
  succeeds("rmr", "rmr", "rmrOptions: {paths: [train]}");
  EXPECT_TRUE(eventually([&] {
    const auto now = get("sampleset", kSet)["status"]["index"];
    return now.value("generation", 0) == 3 && now.value("leftOut", 0) == 5;
  })) << get("sampleset", kSet)["status"]["index"];
}

TEST_F(LocalSampleJobs, AWrongKeyIsCorrectedInTheSecretAndNothingIsDeleted) {
  put("train/0");
  source::S3Credentials wrong = keys_;
  wrong.secret_key = "canary-own-5b2";
  apply(secret("keys", s3_, wrong) + set_object());
  const auto ready = [&] {
    for (const auto& each :
         get("sampleset", kSet)
             .value(nlohmann::json::json_pointer("/status/conditions"), nlohmann::json::array())) {
      if (each.value("type", "") == "Ready") return each;
    }
    return nlohmann::json::object();
  };
  ASSERT_TRUE(eventually([&] { return ready().value("reason", "") == "SyncFailed"; })) << ready();
  EXPECT_THAT(ready().value("message", ""), HasSubstr("refuses the credentials"));
  const std::string runtime = std::string(kSet) + "-runtime-0";
  const auto before = get("pod", runtime)["metadata"]["uid"];

  apply(secret("keys", s3_, keys_));
  EXPECT_TRUE(eventually([&] { return ready().value("status", "") == "True"; },
                         std::chrono::seconds{90}, std::chrono::milliseconds{200}))
      << ready();
  const auto pod = get("pod", runtime);
  EXPECT_EQ(pod["metadata"]["uid"], before);
  EXPECT_EQ(pod["status"]["containerStatuses"][0]["restartCount"], 0);
}

TEST_F(LocalSampleJobs, SourcesAreJoinedInOneSet) {
  put("train/0");
  put("train/1");
  const source::S3Credentials other_keys{.access_key = "you", .secret_key = "canary-other-77a"};
  source::FakeS3 other(other_keys, {}, net::ScriptedServer::On::kEveryAddress);
  other.put("more/a.jpg", "from the other");
  other.put("more/sub/b.jpg", "as well");
  other.put("more/c.txt", "not wanted");
  make_set();

  const std::string second =
      "secretRef: {name: other}, syncOptions: {source: s3://bucket/more, "
      "destination: /extra, exclude: \"*.txt\"";
  apply(job("second", "sync", second + "}"));
  ASSERT_TRUE(eventually([&] {
    return message_of("second").find("ErrorSecretNotExist") != std::string::npos;
  })) << message_of("second");
  apply(secret("other", other, other_keys));
  wait_phase("second", "Succeeded");
  EXPECT_EQ(in_worker("cd /data; find . -type f | sort; cat extra/a.jpg"),
            "./extra/a.jpg\n./extra/sub/b.jpg\n./train/0\n./train/1\nfrom the other");

  // A restart finds the keys in memory; on the disk only the API server has them.
  succeeds("clear", "clear");
  for (const pid_t runtime : runtimes()) {
    ::kill(runtime, SIGKILL);
  }
  EXPECT_EQ(in_worker("cat /data/extra/sub/b.jpg"), "as well");
  EXPECT_THAT(files_with(directory_, other_keys.secret_key, "/api/"), IsEmpty());
  EXPECT_THAT(files_with(disk_, other_keys.secret_key), IsEmpty());
  const auto uid = get("pod", std::string(kSet) + "-runtime-0")["metadata"]["uid"];
  const auto kept =
      files_with("/dev/shm/paddle-" + uid.get<std::string>() + "-keys", other_keys.secret_key);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(std::filesystem::status(kept[0]).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  // Objects that were deleted at the source are removed only on request.
  other.remove("more/a.jpg");
  s3_.remove("set/train/1");
  succeeds("keeps", "sync", second + "}");
  EXPECT_EQ(in_worker("cd /data; find . -type f | wc -l"), "4\n");
  succeeds("drops", "sync", second + ", delete-dst: true}");
  EXPECT_EQ(in_worker("cd /data; find . -type f | sort"),
            "./extra/sub/b.jpg\n./train/0\n./train/1\n");
  succeeds("rmr", "rmr", "rmrOptions: {paths: [extra]}");
  succeeds("mirror", "sync", "syncOptions: {delete-dst: true}");
  EXPECT_EQ(in_worker("cd /data; find . -type f | sort"), "./train/0\n");

  apply(job("refused", "sync", "syncOptions: {delete-src: true}"));
  wait_phase("refused", "Failed");
  EXPECT_THAT(message_of("refused"), HasSubstr("delete-src"));
}

// Each runtime has its own index and keys: they agree after every change.
TEST_F(LocalSampleJobs, SourcesAreJoinedInASetOfSeveralPartitions) {
  for (int i = 0; i < 6; ++i) put("train/" + std::to_string(i));
  const source::S3Credentials other_keys{.access_key = "you", .secret_key = "canary-other-77a"};
  source::FakeS3 other(other_keys, {}, net::ScriptedServer::On::kEveryAddress);
  for (const char* name : {"a", "b", "c"}) other.put(std::string("more/") + name, name);
  make_set("", 3);
  EXPECT_EQ(row()["RUNTIME"], "3/3");
  EXPECT_TRUE(figures(6 * kMib, 6 * kMib));
  apply(secret("other", other, other_keys));

  const std::string second =
      "secretRef: {name: other}, syncOptions: {source: s3://bucket/more, destination: /extra";
  succeeds("second", "sync", second + "}");
  EXPECT_EQ(get("samplejob", "second")["status"]["partitions"].size(), 3u);
  EXPECT_TRUE(figures(6 * kMib + 3, 6 * kMib + 3)) << "each partition warmed up its part";
  EXPECT_EQ(in_worker("cd /data; cat extra/*; ls train | wc -l"), "abc6\n");

  succeeds("clear", "clear");
  EXPECT_TRUE(figures(6 * kMib + 3, 0));
  for (const pid_t runtime : runtimes()) {
    ::kill(runtime, SIGKILL);
  }
  EXPECT_EQ(in_worker("cat /data/extra/*"), "abc") << "whichever of them is read through";
  succeeds("warmup", "warmup");
  EXPECT_TRUE(figures(6 * kMib + 3, 6 * kMib + 3));

  other.remove("more/a");
  s3_.remove("set/train/1");
  succeeds("keeps", "sync", second + "}");
  EXPECT_EQ(in_worker("cd /data; find . -type f | wc -l"), "9\n");
  succeeds("drops", "sync", second + ", delete-dst: true}");
  EXPECT_EQ(in_worker("cd /data; ls extra; ls train | wc -l"), "b\nc\n6\n");
  succeeds("rmr", "rmr", "rmrOptions: {paths: [extra]}");
  EXPECT_TRUE(figures(6 * kMib, 6 * kMib));
  succeeds("mirror", "sync", "syncOptions: {delete-dst: true}");
  EXPECT_EQ(in_worker("cd /data; find . -type f | wc -l"), "5\n");
  EXPECT_TRUE(figures(5 * kMib, 5 * kMib));
  const auto status = get("sampleset", kSet)["status"];
  EXPECT_EQ(status["phase"], "Ready");
  EXPECT_EQ(status["partitions"].size(), 3u);
}

TEST_F(LocalSampleJobs, AnOpenMountShowsTheNextGenerationAndOldFilesStayReadable) {
  s3_.put("set/changes", "before");
  s3_.put("set/stays", "the same");
  s3_.put("set/goes", "gone");
  make_set();
  apply(
      "{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: reads}, spec: "
      "{cleanPodPolicy: Never, sampleSetRef: {name: images, mountPath: /data}, worker: {replicas: "
      "1, template: {spec: {containers: [{name: main, image: x, command: [sh, -c, 'cd /data; exec "
      "3<changes; ls; until [ -e new ]; do sleep 0.1; done; ls; cat <&3; echo; cat "
      "changes']}]}}}}}");
  ASSERT_TRUE(eventually([&] {
    return ctl({"logs", "reads-worker-0"}).out.find("stays") != std::string::npos;
  }));
  succeeds("rmr", "rmr", "rmrOptions: {paths: [goes]}");
  s3_.remove("set/goes");
  s3_.put("set/changes", "afterwards");
  s3_.put("set/new", "new");
  succeeds("sync", "sync");
  must({"wait", "pdj/reads", "--for=phase=Completed", "--timeout=60s"});
  EXPECT_EQ(must({"logs", "reads-worker-0"}),
            "changes\ngoes\nstays\nchanges\nnew\nstays\nbefore\nafterwards");
}

TEST_F(LocalSampleJobs, AScheduleRunsAndWorkIsCancelled) {
  put_samples();
  make_set("warmup: {enabled: false}, ");
  apply(job("nightly", "warmup", "schedule: \"* * * * *\", warmupOptions: {paths: [val]}"));
  const auto cron = [&] {
    return get("samplejob", "nightly")
        .value(nlohmann::json::json_pointer("/status/cronJobStatus"), nlohmann::json::object());
  };
  ASSERT_TRUE(eventually([&] { return cron().contains("nextScheduleTime"); }));

  close_gate();
  apply(job("deleted", "warmup", "warmupOptions: {paths: [train]}"));
  ASSERT_TRUE(eventually([&] { return phase_of("deleted") == "Running" && held() > 0; }));
  const std::string id = get("samplejob", "deleted")["status"]["jobName"];
  must({"delete", "samplejob", "deleted"});
  EXPECT_TRUE(eventually([&] { return state_at_runtime(id) == "cancelled"; }))
      << state_at_runtime(id);
  open_gate();

  close_gate();
  apply(job("older", "warmup", "warmupOptions: {paths: [train]}"));
  ASSERT_TRUE(eventually([&] { return phase_of("older") == "Running" && held() > 0; }));
  system_clock().sleep(std::chrono::milliseconds{1100}, {});  // younger by whole seconds
  apply(job("younger", "warmup", "terminate: true, warmupOptions: {paths: [val/0]}"));
  wait_phase("older", "Failed");
  open_gate();
  wait_phase("younger", "Succeeded");
  EXPECT_THAT(message_of("older"), HasSubstr("cancelled by samplejob younger"));

  ASSERT_TRUE(eventually([&] { return cron().contains("lastSuccessfulTime"); },
                         std::chrono::seconds{150}, std::chrono::milliseconds{200}))
      << cron();
  const std::string runs = must({"get", "samplejobs", "-o", "name"});
  EXPECT_THAT(runs, HasSubstr("samplejob.batch.paddlepaddle.org/nightly-"));
  EXPECT_TRUE(figures(32 * kMib, 8 * kMib));
  must({"delete", "samplejob", "nightly"});
  EXPECT_TRUE(eventually([&] {
    return must({"get", "samplejobs", "-o", "name"}).find("nightly") == std::string::npos;
  })) << "its runs go with it";
}

}  // namespace
}  // namespace paddle::test
