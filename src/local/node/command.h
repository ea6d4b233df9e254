// SPDX-License-Identifier: Apache-2.0
//
// Runs a system program (iproute2, util-linux, nftables) without a shell and waits for it.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::local {

// kUnavailable names the failed command or the program that is not installed.
Result<> run_command(std::vector<std::string> words);

}  // namespace paddle::local
