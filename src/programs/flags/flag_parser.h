// SPDX-License-Identifier: Apache-2.0
//
// What the command lines of all our programs share. No output, no exit. As with Go's flag package,
// a flag has one dash or two.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace paddle::programs {

// The text to print and leave with 0 (--help, --version), or empty: the flags are parsed. kInvalid
// with one sentence for a wrong command line.
Result<std::string> run_parser(CLI::App& app, const std::string& program,
                               const std::vector<std::string>& args);
// "--flag=value is not <wants>".
Error bad_flag(const std::string& flag, const std::string& value, const std::string& wants);
// "a,,b" -> {"a", "b"}
std::vector<std::string> split_list(const std::string& text);

// A program that has only --help and --version yet; the text to print, or empty.
Result<std::string> parse_bare(const std::string& program, const std::string& about,
                               const std::vector<std::string>& args);

// "paddle-operator: <sentence>. ..." with the next step, for standard error; main returns 2.
std::string usage_error(const std::string& program, const Error& error);

}  // namespace paddle::programs
