// SPDX-License-Identifier: Apache-2.0
//
// A local cluster with a SampleSet whose source is an S3 server in the test process, which counts
// requests; and SampleJobs on it, as a user applies them. The cache is on its own tmpfs, so that
// other programs do not affect its free space: the test program has its own mount namespace, which
// ends with it.

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
  // Mounts a tmpfs at the directory of the cache.
  virtual void make_disk();

  // Applies the Secret of the source and the set, and waits until it is Ready. `more`: fields of
  // its spec, "warmup: {...}, ".
  void make_set(const std::string& more = "", int partitions = 1);
  std::string set_object(const std::string& more = "", int partitions = 1) const;
  std::string secret(const std::string& name, const source::FakeS3& server,
                     const source::S3Credentials& keys) const;
  // One YAML document; `more` is a part of its spec: "rmrOptions: {paths: [/a]}".
  static std::string job(const std::string& name, const std::string& type,
                         const std::string& more = "");
  void apply(const std::string& objects) const { must({"apply", "-f", "-"}, objects); }
  // Applies the job; it must succeed.
  void succeeds(const std::string& name, const std::string& type, const std::string& more = "");
  void wait_phase(const std::string& job, const std::string& phase) const;
  nlohmann::json get(const std::string& kind, const std::string& name) const;
  std::string phase_of(const std::string& job) const;
  std::string message_of(const std::string& job) const;

  std::int64_t cached() const;
  std::int64_t total() const;
  bool figures(std::int64_t total_bytes, std::int64_t cached_bytes) const;  // waits for them
  // The row of `kubectl get sampleset`: header -> cell.
  std::map<std::string, std::string> row() const;
  static double bytes_in(const std::string& text);  // "12 MiB"

  // The runtimes of the set on this cluster; other tests run clusters of their own beside it.
  std::vector<pid_t> runtimes() const;

  // What `script` prints in a worker that mounts the set at /data.
  std::string in_worker(const std::string& script);

  // How often an object was fetched completely, by the requests in the server's log.
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
  std::string host_{};  // the address of this machine for pods
  int workers_ = 0;
};

}  // namespace paddle::test
