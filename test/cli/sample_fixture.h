// SPDX-License-Identifier: Apache-2.0
//
// A local cluster with a SampleSet whose source is an S3 server in the test's own process, which
// counts what is fetched; and SampleJobs on it, as a user applies them. The cache is on a disk of
// its own (a tmpfs), so that its free space is nobody else's affair: the test program has mounts of
// its own, which end with it.

#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/sync.h"
#include "source/fake/fake_s3.h"
#include "test/cli/cli_fixture.h"

namespace paddle::test {

class SampleJobsTest : public CliTest {
 protected:
  static constexpr const char* kSet = "images";
  static constexpr int kDiskMib = 200;

  SampleJobsTest();
  ~SampleJobsTest() override;
  void SetUp() override;

  // The Secret of the source, and the set, Ready. `more`: fields of its spec, "warmup: {...}, ".
  void make_set(const std::string& more = "", int partitions = 1);
  std::string set_object(const std::string& more = "", int partitions = 1) const;
  std::string secret(const std::string& name, const source::FakeS3& server,
                     const source::S3Credentials& keys) const;
  // One document; `more` is a part of its spec: "rmrOptions: {paths: [/a]}".
  static std::string job(const std::string& name, const std::string& type,
                         const std::string& more = "");
  void apply(const std::string& objects) const { must({"apply", "-f", "-"}, objects); }
  // Applied, and succeeded.
  void succeeds(const std::string& name, const std::string& type, const std::string& more = "");
  void wait_phase(const std::string& job, const std::string& phase) const;
  nlohmann::json get(const std::string& kind, const std::string& name) const;
  std::string phase_of(const std::string& job) const;
  std::string message_of(const std::string& job) const;

  std::int64_t cached() const;
  std::int64_t total() const;
  bool figures(std::int64_t total_bytes, std::int64_t cached_bytes) const;  // waits for them
  // Of `kubectl get sampleset`: header to cell.
  std::map<std::string, std::string> row() const;
  static double bytes_in(const std::string& text);  // "12 MiB"

  // What `script` prints in a worker that mounts the set at /data.
  std::string in_worker(const std::string& script);

  // How often all of an object's bytes were fetched, in sum over the server's log.
  double fetched(source::FakeS3& server, const std::string& key, std::size_t size) const;

  // While it is closed the server answers no request for an object.
  void close_gate() EXCLUDES(gate_mutex_);
  void open_gate() EXCLUDES(gate_mutex_);
  int held() const { return held_; }

  const source::S3Credentials keys_{.access_key = "me", .secret_key = "canary-own-5b1"};
  Mutex gate_mutex_;
  CondVar gate_wake_;
  bool closed_ GUARDED_BY(gate_mutex_) = false;
  std::atomic<int> held_{0};
  source::FakeS3 s3_;
  const std::string disk_;
  std::string host_{};  // of this machine, as pods see it
  int workers_ = 0;
};

}  // namespace paddle::test
