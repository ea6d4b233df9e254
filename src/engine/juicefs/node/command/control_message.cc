// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/control_message.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/json.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::uint32_t kRemove = 1002;
constexpr std::uint32_t kFillCache = 1004;
constexpr std::uint32_t kInfo = 1005;
constexpr unsigned char kProgress = 0xfe;
constexpr unsigned char kData = 0xff;
constexpr std::uint8_t kRemoveThreads = 50;
constexpr std::size_t kProgressSize = 17;
constexpr std::size_t kDataHead = 5;
constexpr std::size_t kLongestData = std::size_t{64} << 20;

template <typename Number>
void put(std::string& to, Number number) {
  for (std::size_t i = sizeof number; i-- > 0;) {
    to += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  }
}

std::uint64_t get(std::string_view from, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number = number << 8 | static_cast<unsigned char>(from[at + i]);
  }
  return number;
}

std::string request(std::uint32_t command, const std::string& body) {
  std::string text;
  put(text, command);
  put(text, static_cast<std::uint32_t>(body.size()));
  return text + body;
}

Result<std::int64_t> count(const api::Json& from, const char* key) {
  if (!from.is_object() || !from.contains(key) || !from[key].is_number_unsigned()) {
    return Error{Code::kInternal, std::string("JuiceFS answered without ") + key};
  }
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(from[key].get<std::uint64_t>(), INT64_MAX));
}

}  // namespace

std::string cache_request(CacheAction action, const std::vector<std::string>& paths,
                          std::uint16_t threads) {
  std::string joined;
  for (const auto& path : paths) joined += (joined.empty() ? "" : "\n") + path;
  std::string body;
  put(body, static_cast<std::uint32_t>(joined.size()));
  body += joined;
  put(body, threads);
  put(body, std::uint8_t{0});  // not in the background
  put(body, static_cast<std::uint8_t>(action));
  return request(kFillCache, body);
}

std::string totals_request(std::uint64_t inode, bool strict) {
  std::string body;
  put(body, inode);
  put(body, std::uint8_t{1});  // with everything beneath
  put(body, std::uint8_t{0});
  put(body, static_cast<std::uint8_t>(strict ? 1 : 0));
  return request(kInfo, body);
}

std::string remove_request(std::uint64_t parent, const std::string& name, bool skip_trash) {
  std::string body;
  put(body, parent);
  put(body, static_cast<std::uint8_t>(name.size()));
  body += name;
  put(body, static_cast<std::uint8_t>(skip_trash ? 1 : 0));
  put(body, kRemoveThreads);
  return request(kRemove, body);
}

Result<> ControlReader::add(std::string_view piece) {
  pending_.append(piece);
  while (!answer_.ended && !pending_.empty()) {
    const auto kind = static_cast<unsigned char>(pending_[0]);
    if (kind == kProgress) {
      if (pending_.size() < kProgressSize) return Done{};
      answer_.files = get(pending_, 1, 8);
      answer_.bytes = get(pending_, 9, 8);
      pending_.erase(0, kProgressSize);
    } else if (kind == kData) {
      if (pending_.size() < kDataHead) return Done{};
      const std::size_t size = get(pending_, 1, 4);
      if (size > kLongestData) return Error{Code::kInternal, "the answer of JuiceFS is too long"};
      if (pending_.size() < kDataHead + size) return Done{};
      answer_.data = pending_.substr(kDataHead, size);
      answer_.ended = true;
    } else {
      answer_.error = kind;
      answer_.ended = true;
    }
  }
  return Done{};
}

CacheUsage& CacheUsage::operator+=(const CacheUsage& other) {
  files += other.files;
  bytes += other.bytes;
  missing += other.missing;
  return *this;
}

Result<CacheUsage> parse_cache_usage(std::string_view json) {
  TRY(const api::Json all, api::parse_json(json));
  CacheUsage figures;
  TRY(figures.files, count(all, "FileCount"));
  TRY(figures.bytes, count(all, "TotalBytes"));
  TRY(figures.missing, count(all, "MissBytes"));
  return figures;
}

Result<VolumeTotals> parse_totals(std::string_view json) {
  TRY(const api::Json all, api::parse_json(json));
  if (!all.is_object() || !all.contains("Summary")) {
    return Error{Code::kInternal, "JuiceFS answered without a summary"};
  }
  if (all.contains("Failed") && all["Failed"] == true) {
    return Error{Code::kUnavailable, "JuiceFS cannot count the files of the volume"};
  }
  VolumeTotals totals;
  TRY(totals.files, count(all["Summary"], "Files"));
  TRY(totals.bytes, count(all["Summary"], "Length"));
  return totals;
}

}  // namespace paddle::engine::juicefs
