// SPDX-License-Identifier: Apache-2.0
//
// A JuiceFS volume on this machine: metadata in a real Redis with a password, data on a real S3
// server, mounts by the real client, and a `paddle-cache serve` for each mount. Every secret is a
// canary: it must not be on a command line, in a log or in an error.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/client.h"
#include "test/juicefs/counting_proxy.h"
#include "test/support/eventually.h"
#include "test/support/ports.h"
#include "test/support/process.h"
#include "test/support/s3_gateway.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {

inline constexpr const char* kVolumeToken = "canary-token-7a31";
inline constexpr const char* kRedisPassword = "canary/redis+word";
inline constexpr const char* kAccessKey = "canary-access-5f";
inline constexpr const char* kSecretKey = "canary/secret+key";

// One node of the set: a mount with a cache of its own, and a runtime.
struct Runtime {
  std::string directory{};
  std::string mount{};
  std::string log{};
  std::string address{};
  std::optional<ReservedPort> port{};
  pid_t client = 0;  // of JuiceFS
  pid_t server = 0;
};

class VolumeTest : public testing::Test {
 protected:
  static void SetUpTestSuite();  // before anything is started: all share the mount table
  void SetUp() override;
  void TearDown() override;

  // Objects "train/class<i>/<n>.jpg" in the bucket "bucket".
  void put_source(int count, std::size_t size);
  void write_secrets();
  Ran format(const std::string& volume_secret);

  void mount(Runtime& runtime);
  void unmount(Runtime& runtime);
  void serve(Runtime& runtime, const std::vector<std::string>& more = {});
  void kill_server(Runtime& runtime);  // -9
  Exit stop_server(Runtime& runtime);  // SIGTERM
  Runtime& add_runtime();              // mounted and serving

  runtime::Client client(const Runtime& runtime) const;  // over TLS, as the operator's
  runtime::JobReport run_job(const Runtime& runtime, const std::string& id,
                             const runtime::JobRequest& request);
  runtime::JobReport wait_for(const Runtime& runtime, const std::string& id);
  // When the figures are these, or a while has passed.
  template <typename Condition>
  runtime::StatusReport status_when(const Runtime& runtime, Condition&& condition) {
    runtime::StatusReport report;
    (void)eventually([&] {
      const auto seen = client(runtime).status();
      if (seen) report = *seen;
      return seen && condition(*seen);
    });
    return report;
  }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  // Without hidden ones: JuiceFS shows files of its own at the root, of which one never ends.
  static std::map<std::string, std::string> files_beneath(const std::string& root);
  // The names of the files beneath that differ, one line each; empty: the files are these.
  static std::string differences(const std::string& root,
                                 const std::map<std::string, std::string>& expected);
  std::string said() const;         // everything that any runtime has logged
  void expect_no_secret_in_argv();  // of any process, now

  ScratchDir scratch_;
  S3Gateway s3_{{.access_key = kAccessKey, .secret_key = kSecretKey}};
  std::unique_ptr<CountingProxy> proxy_;  // before the S3 server, as the source
  std::optional<ReservedPort> redis_port_;
  std::string juicefs_;
  std::string source_;  // the uri that runtimes are given
  std::map<std::string, std::string> truth_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
};

}  // namespace paddle::test
