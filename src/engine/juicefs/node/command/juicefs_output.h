// SPDX-License-Identifier: Apache-2.0
//
// What JuiceFS says, read: the reason in its log, the figures in its metrics, its configuration.
// Pure. Texts of a foreign program are data: nothing in them is ever repeated before it is
// redacted.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// Each secret, as it is and as URLs spell it, replaced by "***"; the shortest ones (under four
// characters) would hide more than themselves and are left.
std::string redacted(std::string text, const std::vector<std::string>& secrets);

// Why it gave up, from its log: the last fatal line, else the last error, else the last line;
// without time, place in its source, colours and secrets, on one line, at most 400 characters.
std::string failure_reason(std::string_view log, const std::vector<std::string>& secrets);

// The first line that says that something of the source was left out because it may not be read; on
// one line, as above. Such a sync ends well all the same, with a part of the data.
std::optional<std::string> left_out(std::string_view log, const std::vector<std::string>& secrets);

// "127.0.0.1:9567" out of the line of its log that says where its metrics are.
std::optional<std::string> metrics_address(std::string_view log);

// One figure of a Prometheus text, or of the file `.stats`, whatever its labels; absent when it is
// not there.
std::optional<double> metric_value(std::string_view metrics, std::string_view name);

// Which life of a client its `.stats` are of: when it started. Empty when they do not say.
std::string client_life(std::string_view stats);

// How far a `juicefs sync` is, by its metrics; how it ended, by the last line of its log.
Progress sync_progress(std::string_view metrics);
std::optional<Progress> sync_outcome(std::string_view log);
// By that line, how many it copied, or would have copied.
std::optional<std::int64_t> copied_files(std::string_view log);

// Of the file `.config` of a mount.
struct MountConfig {
  std::string mountpoint{};  // as the client itself sees it
  std::string volume{};      // the volume's UUID
  std::int64_t cache_size = 0;
  bool by_process = false;  // started by the CSI driver itself, one client for each pod
  bool operator==(const MountConfig&) const = default;
};
Result<MountConfig> parse_config(std::string_view json);

}  // namespace paddle::engine::juicefs
