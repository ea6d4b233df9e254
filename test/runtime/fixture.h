// SPDX-License-Identifier: Apache-2.0
//
// One `paddle-cache serve` with its directories, the operator's client and a node that mounts.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "fuse/attach.h"
#include "fuse/mount.h"
#include "runtime/client.h"
#include "runtime/runtime_secret.h"
#include "test/mount/mount_fixture.h"
#include "test/support/ports.h"
#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {

inline constexpr const char* kCanaryToken = "canary-token-1d0c";

class RuntimeTest : public testing::Test {
 protected:
  RuntimeTest();
  ~RuntimeTest() override;

  // Flags that every start has are added.
  void start(const std::string& source, const std::vector<std::string>& more = {});
  // The same, of one that is killed as soon as it has renamed something to `name`.
  void start_to_die_after(const std::string& name, const std::string& source);
  void wait_until_dead();
  // Over TLS, with the files of a set's Secret; returns before it answers.
  void write_identity(const runtime::SecretData& data);
  void start_over_tls();
  void kill();                         // -9
  Exit stop();                         // SIGTERM
  std::string file_source(int count);  // makes files of a directory, returns its uri

  // A job to its end.
  runtime::JobReport run_job(const std::string& id, const runtime::JobRequest& request);

  // What a node does: one mount, its descriptor kept.
  void mount();
  void attach();  // the first time, or a successor

  std::string logs() const { return read_file(log_); }

  ScratchDir scratch_;
  const std::string cache_ = scratch_.path() + "/cache";
  const std::string session_ = scratch_.path() + "/session";
  const std::string log_ = scratch_.path() + "/log";
  std::optional<ReservedPort> port_ = *ReservedPort::any();
  const std::string address_ = "127.0.0.1:" + std::to_string(port_->number());
  runtime::Client client_{address_, kCanaryToken};
  std::map<std::string, std::string> truth_;  // path to bytes

  MountPoint point_;
  std::optional<fuse::Mounted> mounted_;
  std::optional<fuse::Attached> attached_;
  pid_t server_ = 0;
  std::vector<std::string> environment_{};  // of the next start, besides the usual
};

}  // namespace paddle::test
