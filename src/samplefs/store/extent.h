// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a stored block lie: for readers of segment files without the store (a sealed
// view). Pure.
//
// The data is contiguous in its segment file, from a multiple of kExtentAlignment on, and zeros
// follow it up to the next multiple. A segment's file is `tier directory`/segment_file(number).

#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace paddle::samplefs {

inline constexpr std::uint64_t kExtentAlignment = 4096;

// Numbers start at 1 and are not used again while anything refers to them.
struct SegmentId {
  std::uint32_t tier = 0;  // in the order of the store's tiers
  std::uint32_t number = 0;
  auto operator<=>(const SegmentId&) const = default;
};

std::string segment_file(std::uint32_t number);  // "segment.7"

struct Extent {
  SegmentId segment{};
  std::uint64_t offset = 0;    // in the segment's file; a multiple of kExtentAlignment
  std::uint64_t length = 0;    // of the data, without the zeros
  std::uint64_t checksum = 0;  // block_checksum() of the data (store/format.h)
  bool operator==(const Extent&) const = default;
};

}  // namespace paddle::samplefs
