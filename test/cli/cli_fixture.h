// SPDX-License-Identifier: Apache-2.0
//
// Runs the real paddlectl as a user would, and looks at what it leaves on the machine. The keeper
// starts it, so that a background process of a test that was killed ends too.

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

  // `paddlectl local VERB...` in the test's first directory, to its end.
  Ran ctl(std::vector<std::string> args, const std::string& input = {}) const;
  Ran ctl_in(const std::string& directory, std::vector<std::string> args,
             const std::string& input = {}) const;
  // Its output, after it has ended well.
  std::string must(const std::vector<std::string>& args, const std::string& input = {}) const;
  // `up`, by the keeper: what it said and how it ended.
  Ran up(const std::string& directory);
  Ran up_once(const std::string& directory) const;  // without a `down` at the end of the test

  nlohmann::json status(const std::string& directory) const;

  const ScratchDir scratch_{};
  const std::string directory_;
  std::vector<std::string> started_{};
};

// Processes whose command line has this word in it.
std::vector<pid_t> processes_with(const std::string& word);
// Mounts of this machine (as this process sees them) beneath the directory.
std::vector<std::string> mounts_beneath(const std::string& directory);
// Whether an interface of this machine has that address.
bool has_address(const std::string& address);

}  // namespace paddle::test
