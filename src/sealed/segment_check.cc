// SPDX-License-Identifier: Apache-2.0
#include "sealed/segment_check.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

#include "erofs/format.h"
#include "fuse/device_error.h"
#include "sealed/safe_open.h"

namespace paddle::sealed {
namespace {

using erofs::kBlock;
using erofs::kChunk;
using fuse::device_error;

struct Free {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

std::string describe(const SegmentExtent& extent) {
  return "the extent of " + std::to_string(extent.length) + " bytes at " +
         std::to_string(extent.offset) + " of segment " + std::to_string(extent.segment);
}

Result<> check(int file, const SegmentExtent& extent, const Checksum& checksum,
               std::span<std::byte> buffer) {
  const std::uint64_t whole = (extent.length + kBlock - 1) / kBlock * kBlock;
  const off_t hole = ::lseek(file, static_cast<off_t>(extent.offset), SEEK_HOLE);
  if (hole < 0) return device_error("look for holes in a segment", errno);
  if (static_cast<std::uint64_t>(hole) < extent.offset + whole) {
    return Error{Code::kInvalid, describe(extent) + " has a hole"};
  }
  const auto bytes = buffer.first(whole);
  CHECK_DONE(read_exactly(file, extent.offset, bytes));
  const auto data = bytes.first(extent.length);
  if (checksum(data) != extent.checksum) {
    return Error{Code::kInvalid, describe(extent) + " does not have the bytes of its slot"};
  }
  const auto tail = bytes.subspan(extent.length);
  if (std::ranges::any_of(tail, [](std::byte b) { return b != std::byte{0}; })) {
    return Error{Code::kInvalid, describe(extent) + " is not followed by zeros"};
  }
  return Done{};
}

}  // namespace

Result<> check_segments(std::span<const int> segments, std::span<const SegmentExtent> extents,
                        const Checksum& checksum, std::stop_token stop) {
  const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(std::aligned_alloc(kBlock, kChunk)));
  if (!memory) return Error{Code::kUnavailable, "no memory to check segments"};
  const std::span<std::byte> buffer(memory.get(), kChunk);
  std::vector<UniqueFd> files;
  for (const int segment : segments) {
    auto direct = open_again(segment, O_RDONLY | O_DIRECT);
    if (!direct) direct = open_again(segment, O_RDONLY);
    if (!direct) return std::move(direct).error();
    files.push_back(*std::move(direct));
  }
  for (const SegmentExtent& extent : extents) {
    if (stop.stop_requested()) return Error{Code::kCancelled, "the check of segments was stopped"};
    CHECK_DONE(check(files[extent.segment].get(), extent, checksum, buffer));
  }
  return Done{};
}

}  // namespace paddle::sealed
