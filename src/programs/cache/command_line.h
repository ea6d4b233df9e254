// SPDX-License-Identifier: Apache-2.0
//
// The command line of paddle-cache as a value. No output, no exit.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::programs {

// `paddle-cache serve` (docs/design/0006, 0010).
struct ServeFlags {
  std::string engine = "samplefs";  // or "juicefs"
  std::string set{};                // namespace/name
  std::string source{};             // uri; juicefs: may be empty
  std::string source_secret{};      // directory with the source's credentials; empty: none
  std::string token_file{};
  std::vector<std::string> caches{};       // directories, one per tier; juicefs: one, of its state
  std::vector<std::uint64_t> cache_mib{};  // of each, 0: what the disk has; may be shorter
  std::string state{};                     // directory of index and jobs; the first of `caches`
  std::string keys{};                // directory in memory for keys of jobs' sources; empty: none
  std::int64_t read_timeout = 30;    // samplefs: seconds, of a read that needs the source
  std::int64_t in_flight_mib = 128;  // samplefs: of samples in memory, at most
  std::int64_t scrub_mib = 8;        // samplefs: MiB a second that are verified; 0: none
  std::string session{};             // directory where the node attaches mounts; empty: none
  std::string listen{};              // host:port
  std::string tls{};                 // directory with tls.crt, tls.key and ca.crt; empty: no TLS
  std::string log_format = "text";
  // The juicefs engine only.
  std::string data{};           // where the volume is mounted
  std::string volume_secret{};  // directory
  std::string sub_dir{};        // of the volume
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
  std::string name{};  // empty: as the driver reports it
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

}  // namespace paddle::programs
