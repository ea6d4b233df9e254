// SPDX-License-Identifier: Apache-2.0
//
// Command lines as values. Pure: no output, no exit. Flags are those of the Go operator, with one
// dash or two; those that it accepted and ignored are accepted here as well.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace paddle::programs {

struct OperatorFlags {
  std::vector<std::string> controllers{"paddlejob", "sampleset", "samplejob"};
  std::string metrics_bind_address = ":8080";
  std::string health_probe_bind_address = ":8081";
  bool leader_elect = false;
  std::string ns{};                                          // empty: all namespaces
  std::string scheduling{};                                  // "" or "volcano"
  std::string init_image = "docker.io/library/alpine:3.10";  // empty: no init container
  std::vector<std::string> etcd_servers{};
  std::pair<int, int> port_range{35000, 65000};
  std::string kubeconfig{};             // empty: as kube/config.h finds it
  std::string log_encoder = "console";  // or "json"
  std::string log_level = "info";       // debug, info, warn or error
  bool development = false;             // accepted; means the console encoder and debug logs
  bool operator==(const OperatorFlags&) const = default;
};

// What to do: print `text` and leave with 0 (--help, --version), or run.
struct OperatorCommand {
  std::string text{};
  OperatorFlags flags{};
};

// kInvalid with one sentence for a wrong command line.
Result<OperatorCommand> parse_operator(const std::vector<std::string>& args);

// A program that has only --help and --version yet; the text to print, or empty.
Result<std::string> parse_bare(const std::string& program, const std::string& about,
                               const std::vector<std::string>& args);

// "paddle-operator: <sentence>. ..." with the next step, for standard error; main returns 2.
std::string usage_error(const std::string& program, const Error& error);

}  // namespace paddle::programs
