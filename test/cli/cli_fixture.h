// SPDX-License-Identifier: Apache-2.0
//
// Runs the real paddlectl as a user would, and checks what it leaves on the machine. The keeper
// (test/support) starts it, so that background processes end even when the test is killed.

#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {

class CliTest : public testing::Test {
 protected:
  CliTest();
  ~CliTest() override;

  // Runs `paddlectl local VERB...` in the test's first directory and waits for its end.
  Ran ctl(std::vector<std::string> args, const std::string& input = {}) const;
  Ran ctl_in(const std::string& directory, std::vector<std::string> args,
             const std::string& input = {}) const;
  // Its output; the command must succeed.
  std::string must(const std::vector<std::string>& args, const std::string& input = {}) const;
  // Runs `up` by the keeper; returns its output and exit code.
  Ran up(const std::string& directory);
  // Without a `down` at the end of the test; with more words of the command line.
  Ran up_once(const std::string& directory, const std::vector<std::string>& more = {}) const;

  nlohmann::json status(const std::string& directory) const;

  const ScratchDir scratch_{};
  const std::string directory_;
  std::vector<std::string> started_{};
};

// Processes whose command line contains this word.
std::vector<pid_t> processes_with(const std::string& word);
// Mounts of this machine (as this process sees them) beneath the directory.
std::vector<std::string> mounts_beneath(const std::string& directory);
// Whether an interface of this machine has that address.
bool has_address(const std::string& address);

}  // namespace paddle::test
