// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/juicefs_output.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "api/json/json.h"
#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kShortestSecret = 4;
constexpr std::size_t kLongestReason = 400;
constexpr std::string_view kByProcess = "/var/lib/jfs/";  // mount point in that mode

void replace_all(std::string& text, const std::string& what) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 3)) {
    text.replace(at, what.size(), "***");
  }
}

std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    while (i < text.size() && !std::isalpha(static_cast<unsigned char>(text[i]))) ++i;
  }
  return plain;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    if (end > 0) all.push_back(without_colours(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// "2026/01/02 03:04:05.678901 juicefs[42] <FATAL>: reason [format.go:1]" -> "reason"
std::string reason_of(std::string line, const std::vector<std::string>& secrets) {
  if (const auto mark = line.find(">: "); mark != line.npos) line.erase(0, mark + 3);
  if (const auto location = line.rfind(" [");
      location != line.npos && line.ends_with(']') && line.find(".go:", location) != line.npos) {
    line.erase(location);
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  line = redacted(std::move(line), secrets);  // before it is cut: half a secret would not be found
  if (line.size() > kLongestReason) line.resize(kLongestReason);
  return line;
}

// "12 (3.45 MiB), ..." -> 3617587, as exact as the text is.
std::int64_t bytes_in(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == text.npos) return 0;
  text.remove_prefix(open + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end + 1 >= text.data() + text.size()) return 0;
  const std::size_t unit = std::string_view(" KMGTPE").find(end[1]);
  if (unit != std::string_view::npos) number *= std::pow(1024.0, static_cast<double>(unit));
  return number >= 0 && number < 9e18 ? static_cast<std::int64_t>(number) : 0;
}

std::int64_t whole(std::optional<double> value) {
  if (!value || !std::isfinite(*value) || *value < 0 || *value > 9e18) return 0;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::string redacted(std::string text, const std::vector<std::string>& secrets) {
  std::vector<std::string> all;
  for (const auto& secret : secrets) {
    if (secret.size() < kShortestSecret) continue;
    all.push_back(secret);
    all.push_back(percent_encoded(secret));
  }
  // The longest first: one secret may be part of another.
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const auto& secret : all) replace_all(text, secret);
  return text;
}

std::string failure_reason(std::string_view log, const std::vector<std::string>& secrets) {
  const auto lines = lines_of(log);
  for (const char* level : {"<FATAL>", "<ERROR>"}) {
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      if (line->find(level) != line->npos) return reason_of(*line, secrets);
    }
  }
  return lines.empty() ? "it printed nothing" : reason_of(lines.back(), secrets);
}

std::optional<std::string> left_out(std::string_view log, const std::vector<std::string>& secrets) {
  for (const auto& line : lines_of(log)) {
    if (line.find("<WARNING>") == line.npos || line.find(": skip ") == line.npos) continue;
    if (line.find("denied") != line.npos) return reason_of(line, secrets);
  }
  return std::nullopt;
}

std::optional<std::string> metrics_address(std::string_view log) {
  constexpr std::string_view kBefore = "metrics listening on \"";
  const std::size_t at = log.find(kBefore);
  if (at == log.npos) return std::nullopt;
  const std::size_t begin = at + kBefore.size();
  const std::size_t end = log.find('"', begin);
  if (end == log.npos) return std::nullopt;
  return std::string(log.substr(begin, end - begin));
}

std::optional<double> metric_value(std::string_view metrics, std::string_view name) {
  while (!metrics.empty()) {
    const std::size_t end = std::min(metrics.find('\n'), metrics.size());
    const std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    if (!line.starts_with(name) || line.size() == name.size()) continue;
    const char next = line[name.size()];
    if (next != ' ' && next != '{') continue;
    const std::size_t labels = next == '{' ? line.rfind('}') : name.size() - 1;
    if (labels == line.npos || labels + 2 > line.size()) continue;
    std::string_view value = line.substr(labels + 2);
    value = value.substr(0, value.find(' '));
    double number = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && stop == value.data() + value.size()) return number;
  }
  return std::nullopt;
}

std::string client_life(std::string_view stats) {
  const auto start = metric_value(stats, "juicefs_process_start_time_seconds");
  if (!start || !(*start > 0 && *start < 1e12)) return {};
  return std::to_string(static_cast<std::int64_t>(*start * 1000));
}

Progress sync_progress(std::string_view metrics) {
  // A counter may have the suffix of OpenMetrics.
  const auto count = [&](const std::string& name) {
    const auto found = metric_value(metrics, "juicefs_sync_" + name);
    return whole(found ? found : metric_value(metrics, "juicefs_sync_" + name + "_total"));
  };
  Progress progress;
  progress.files_total = count("scanned");
  progress.files_failed = count("failed");
  progress.files_done = std::max<std::int64_t>(count("handled") - progress.files_failed, 0);
  progress.bytes_done = count("copied_bytes");
  return progress;
}

std::optional<Progress> sync_outcome(std::string_view log) {
  const std::size_t at = log.rfind("Found: ");
  if (at == log.npos) return std::nullopt;
  const std::string_view line = log.substr(at, log.find('\n', at) - at);
  const auto after = [&](std::string_view name) {
    const std::size_t found = line.find(name);
    return found == line.npos ? std::string_view() : line.substr(found + name.size());
  };
  const auto count = [&](std::string_view name) {
    const std::string_view rest = after(name);
    std::int64_t number = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return number;
  };
  const std::int64_t failed = count("failed: ") + count("lost: ");
  const std::int64_t found = count("Found: ");
  return Progress{.files_total = found,
                  .files_done = std::max<std::int64_t>(found - failed, 0),
                  .files_failed = failed,
                  .bytes_done = bytes_in(after("copied: "))};
}

std::optional<std::int64_t> copied_files(std::string_view log) {
  constexpr std::string_view kBefore = ", copied: ";
  const std::size_t at = log.rfind(kBefore);
  if (at == log.npos || log.rfind("Found: ", at) == log.npos) return std::nullopt;
  const char* const from = log.data() + at + kBefore.size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(from, log.data() + log.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

Result<MountConfig> parse_config(std::string_view json) {
  TRY(const api::Json all, api::parse_json(json));
  const auto text = [](const api::Json& from, const char* key) {
    return from.is_object() && from.contains(key) && from[key].is_string()
               ? from[key].get<std::string>()
               : std::string();
  };
  if (!all.is_object()) return Error{Code::kInvalid, "the mount's configuration is not an object"};
  MountConfig config;
  if (all.contains("Meta")) config.mountpoint = text(all["Meta"], "MountPoint");
  if (all.contains("Format")) config.volume = text(all["Format"], "UUID");
  if (all.contains("Chunk") && all["Chunk"].is_object() && all["Chunk"].contains("CacheSize") &&
      all["Chunk"]["CacheSize"].is_number_unsigned()) {
    const auto size = all["Chunk"]["CacheSize"].get<std::uint64_t>();
    config.cache_size = static_cast<std::int64_t>(std::min<std::uint64_t>(size, INT64_MAX));
  }
  config.by_process = config.mountpoint.starts_with(kByProcess);
  return config;
}

}  // namespace paddle::engine::juicefs
