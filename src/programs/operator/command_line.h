// SPDX-License-Identifier: Apache-2.0
//
// The command line of paddle-operator as a value. No output, no exit. Flags are those of the Go
// operator; those that it accepted and ignored are accepted here as well.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "controllers/operator/options/operator_options.h"

namespace paddle::programs {

// The Go operator's flags, with those of ours.
struct OperatorFlags {
  controllers::OperatorOptions options{};
  std::string metrics_bind_address = ":8080";
  std::string health_probe_bind_address = ":8081";
  bool leader_elect = false;
  std::string kubeconfig{};             // empty: as kube/config/config.h finds it
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

}  // namespace paddle::programs
