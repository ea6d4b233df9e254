// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of the system's (iproute2, util-linux, nftables) and waits for it; never a shell.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::local {

// kUnavailable names the command that failed or the program that is not installed.
Result<> run_command(std::vector<std::string> words);

}  // namespace paddle::local
