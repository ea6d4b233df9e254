// SPDX-License-Identifier: Apache-2.0
//
// Messages of the file `.control` of a JuiceFS mount: requests to its client, and the answers. They
// are those of `juicefs warmup`, `info` and `rmr` of version 1.2 and later, and give exact numbers
// where those commands print rounded ones. Pure.
//
// A request is a command and a length (four bytes each, big-endian) and a body. Answers follow one
// another until one ends them: progress (0xfe, two counters of eight bytes), data (0xff, a length
// of four bytes, JSON), or one byte, an errno.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

enum class CacheAction : std::uint8_t { kWarmUp = 0, kEvict = 1, kCheck = 2 };

inline constexpr std::uint64_t kRootInode = 1;

// Paths begin with '/', the root of the mount, and have no newline.
std::string cache_request(CacheAction action, const std::vector<std::string>& paths,
                          std::uint16_t threads);
std::string totals_request(std::uint64_t inode, bool strict);
// `name` has at most 255 bytes.
std::string remove_request(std::uint64_t parent, const std::string& name, bool skip_trash);

struct ControlAnswer {
  bool ended = false;
  int error = 0;  // an errno; set with `ended`
  std::string data{};
  std::uint64_t files = 0;  // done so far
  std::uint64_t bytes = 0;
};

// Assembles answers from pieces of any size.
class ControlReader {
 public:
  // kInternal: the answer is longer than any that is expected.
  Result<> add(std::string_view piece);
  const ControlAnswer& answer() const { return answer_; }

 private:
  std::string pending_{};
  ControlAnswer answer_{};
};

struct CacheUsage {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t missing = 0;  // of a check: bytes that are not in the cache
  bool operator==(const CacheUsage&) const = default;
  CacheUsage& operator+=(const CacheUsage& other);
};
Result<CacheUsage> parse_cache_usage(std::string_view json);

struct VolumeTotals {
  std::int64_t files = 0;
  std::int64_t bytes = 0;  // lengths of files, not space used
  bool operator==(const VolumeTotals&) const = default;
};
Result<VolumeTotals> parse_totals(std::string_view json);

}  // namespace paddle::engine::juicefs
