// SPDX-License-Identifier: Apache-2.0
//
// Command lines as values. Pure: no output, no exit. Flags are those of the Go operator, with one
// dash or two; those that it accepted and ignored are accepted here as well.

#pragma once

#include <chrono>
#include <cstdint>
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
  std::string ns{};          // empty: all namespaces
  std::string scheduling{};  // "" or "volcano"
  std::string init_image{};  // of the init container; empty: the job's own
  std::vector<std::string> etcd_servers{};
  std::pair<int, int> port_range{35000, 65000};
  std::vector<std::string> cache_roots{};  // of nodes; empty: anywhere but the system's own
  std::chrono::seconds runtime_identity_lifetime = std::chrono::days{90};  // renewed halfway
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

// `paddle-cache serve` (docs/design/0006, 0010).
struct ServeFlags {
  std::string engine = "samplefs";  // or "juicefs"
  std::string set{};                // namespace/name; in logs only
  std::string source{};             // uri; juicefs: may be empty
  std::string source_secret{};      // directory with the source's credentials; empty: none
  std::string token_file{};
  std::string cache{};             // directory; juicefs: of its state
  std::uint64_t cache_mib = 0;     // 0: what the disk has
  std::int64_t read_timeout = 30;  // samplefs: seconds, of a read that needs the source
  std::string session{};           // directory where node and runtime meet; empty: serves no mount
  std::string listen{};            // host:port
  std::string tls{};  // directory with tls.crt, tls.key and ca.crt; empty: in the clear
  std::string log_format = "text";
  // Of the juicefs engine.
  std::string data{};                // where the volume is mounted
  std::string volume_secret{};       // directory
  std::vector<std::string> disks{};  // directories of the cache, only looked at
  std::string sub_dir{};             // of the volume
  std::string juicefs = "/usr/local/bin/juicefs";
  bool operator==(const ServeFlags&) const = default;
};

// `paddle-cache format` (docs/design/0010).
struct FormatFlags {
  std::string volume_secret{};
  std::string juicefs = "/usr/local/bin/juicefs";
  bool update_keys = false;
  std::string log_format = "text";
  bool operator==(const FormatFlags&) const = default;
};

// `paddle-cache register` (docs/design/0007).
struct RegisterFlags {
  std::string csi_socket{};
  std::string kubelet_registration_path{};
  std::string registry = "/registration";
  std::string name{};  // empty: the driver is asked
  std::string log_format = "text";
  bool operator==(const RegisterFlags&) const = default;
};

enum class CacheVerb { kServe, kFormat, kRegister };

struct CacheCommand {
  std::string text{};
  CacheVerb verb = CacheVerb::kServe;
  ServeFlags serve{};
  FormatFlags format{};
  RegisterFlags registration{};
};

Result<CacheCommand> parse_cache(const std::vector<std::string>& args);

// A program that has only --help and --version yet; the text to print, or empty.
Result<std::string> parse_bare(const std::string& program, const std::string& about,
                               const std::vector<std::string>& args);

// "paddle-operator: <sentence>. ..." with the next step, for standard error; main returns 2.
std::string usage_error(const std::string& program, const Error& error);

}  // namespace paddle::programs
