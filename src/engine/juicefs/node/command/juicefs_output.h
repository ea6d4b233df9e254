// SPDX-License-Identifier: Apache-2.0
//
// Parsers of what JuiceFS 1.4.1 prints: the reason of a failure in its log, values in its metrics,
// its configuration. Another version may say it differently: a test of the tools holds this number
// to the pinned one, and test/juicefs shows the texts of the real program. Pure. No text of JuiceFS
// is passed on before it is redacted.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// The text with each secret, plain or percent-encoded, replaced by "***". Secrets of less than four
// characters are left: replacing them would make the text unreadable.
std::string redacted(std::string text, const std::vector<std::string>& secrets);

// Why JuiceFS failed, from its log: the last fatal line, else the last error, else the last line.
// One line of at most 400 characters, without time, source position, colours and secrets.
std::string failure_reason(std::string_view log, const std::vector<std::string>& secrets);

// The first line about an object that was skipped because access was denied, formatted as above.
// JuiceFS reports success for such a sync although data is missing.
std::optional<std::string> left_out(std::string_view log, const std::vector<std::string>& secrets);

// "127.0.0.1:9567", from the line of the log that names the address of the metrics.
std::optional<std::string> metrics_address(std::string_view log);

// One value of a Prometheus text or of the file `.stats`, whatever its labels; nothing when there
// is none.
std::optional<double> metric_value(std::string_view metrics, std::string_view name);

// When the client of these `.stats` was started, as an opaque id. Empty when they do not have it.
std::string client_life(std::string_view stats);

// The progress of a `juicefs sync` from its metrics, and its result from the last line of its log.
Progress sync_progress(std::string_view metrics);
std::optional<Progress> sync_outcome(std::string_view log);
// The number of files that it copied, or would have copied in a dry run, from that line.
std::optional<std::int64_t> copied_files(std::string_view log);

// The file `.config` of a mount.
struct MountConfig {
  std::string mountpoint{};  // as the client itself sees it
  std::string volume{};      // the volume's UUID
  std::int64_t cache_size = 0;
  bool by_process = false;  // started by the CSI driver itself, one client for each pod
  bool operator==(const MountConfig&) const = default;
};
Result<MountConfig> parse_config(std::string_view json);

}  // namespace paddle::engine::juicefs
