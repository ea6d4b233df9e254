// SPDX-License-Identifier: Apache-2.0
//
// Which files a view shows and where their bytes lie, checked against the sizes of the segments.
// Index, slots and sizes come from a process that is not trusted: what does not hold is refused
// with one sentence, and nothing of it reaches the kernel. Pure.
//
//   every extent   lies in a segment that there is, begins at a whole block of it, and ends, with
//                  its last block, before the end of the segment, without overflow
//   every file     has the extents that its size needs, each as long as its part of the file
//   every name     erofs/tree.h
//
// Extents may overlap and be shared: the same bytes under two names.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "erofs/tree.h"

namespace paddle::sealed {

struct SegmentExtent {
  std::uint32_t segment = 0;  // its place in the list of segments
  std::uint64_t offset = 0;
  std::uint64_t length = 0;    // of the data; zeros follow up to a whole block
  std::uint64_t checksum = 0;  // of the data
  bool operator==(const SegmentExtent&) const = default;
};

struct PlannedFile {
  std::string_view path{};
  std::uint64_t size = 0;
  WallTime modified{};
  std::span<const SegmentExtent> extents{};  // one for each 4 MiB, in order
  std::span<const erofs::Xattr> xattrs{};
};

struct ViewLimits {
  std::uint64_t bytes = std::uint64_t{1} << 60;  // of all files
  erofs::TreeLimits tree{};
};

class ViewPlan {
 public:
  explicit ViewPlan(std::span<const std::uint64_t> segment_sizes = {}, ViewLimits limits = {});
  // Size in bytes, read when no process could change the segment any more. Returns its place.
  std::uint32_t add_segment(std::uint64_t size);

  Result<> add(const PlannedFile& file);
  Result<> add_directory(std::string_view path, WallTime modified);

  const erofs::Tree& tree() const { return tree_; }
  std::uint64_t files() const { return tree_.files(); }
  std::uint64_t bytes() const { return bytes_; }
  // All extents that are not empty, by segment and offset, each once: the order of the disk.
  // kInvalid when two that begin at the same place differ. Empties the list.
  Result<std::vector<SegmentExtent>> take_extents();

 private:
  ViewLimits limits_;
  std::vector<std::uint64_t> sizes_{};
  erofs::Tree tree_;
  std::vector<SegmentExtent> extents_{};
  std::vector<erofs::Extent> blocks_{};  // of the file that is being added
  std::uint64_t bytes_ = 0;
};

}  // namespace paddle::sealed
