// SPDX-License-Identifier: Apache-2.0
#include "sealed/plan/view_plan.h"

#include <algorithm>
#include <tuple>

#include "erofs/format.h"

namespace paddle::sealed {
namespace {

using erofs::kBlock;
using erofs::kChunk;

std::string describe(const SegmentExtent& extent) {
  return "the extent of " + std::to_string(extent.length) + " bytes at " +
         std::to_string(extent.offset) + " of segment " + std::to_string(extent.segment);
}

// What the tree cannot see, because it counts in blocks; it checks the rest.
Result<> check(const SegmentExtent& extent, std::uint64_t expected,
               std::span<const std::uint64_t> sizes) {
  const auto refuse = [&](const std::string& why) {
    return Error{Code::kInvalid, describe(extent) + " " + why};
  };
  if (extent.segment >= sizes.size()) {
    return refuse("lies in none of " + std::to_string(sizes.size()) + " segments");
  }
  if (extent.length != expected) {
    return refuse("should have " + std::to_string(expected) + " bytes");
  }
  if (extent.offset % kBlock != 0) return refuse("does not begin at a whole block");
  const std::uint64_t size = sizes[extent.segment];
  const std::uint64_t whole = (expected + kBlock - 1) / kBlock * kBlock;
  if (extent.offset > size || size - extent.offset < whole) {
    return refuse("ends beyond the segment's " + std::to_string(size) + " bytes");
  }
  return Done{};
}

}  // namespace

ViewPlan::ViewPlan(std::span<const std::uint64_t> segment_sizes, ViewLimits limits)
    : limits_(limits), tree_({}, limits.tree) {
  for (const std::uint64_t size : segment_sizes) add_segment(size);
}

std::uint32_t ViewPlan::add_segment(std::uint64_t size) {
  sizes_.push_back(size);
  tree_.add_device(size / kBlock);
  return static_cast<std::uint32_t>(sizes_.size() - 1);
}

Result<> ViewPlan::add(const PlannedFile& file) {
  if (file.size > limits_.bytes || bytes_ > limits_.bytes - file.size) {
    return Error{Code::kInvalid,
                 "the files have more than " + std::to_string(limits_.bytes) + " bytes together"};
  }
  blocks_.clear();
  std::uint64_t left = file.size;
  for (const SegmentExtent& extent : file.extents) {
    const std::uint64_t expected = std::min(left, kChunk);
    CHECK_DONE(check(extent, expected, sizes_));
    left -= expected;
    blocks_.push_back({.device = extent.segment, .block = extent.offset / kBlock});
  }
  CHECK_DONE(tree_.add({.path = file.path,
                        .size = file.size,
                        .modified = file.modified,
                        .extents = blocks_,
                        .xattrs = file.xattrs}));
  extents_.insert(extents_.end(), file.extents.begin(), file.extents.end());
  bytes_ += file.size;
  return Done{};
}

Result<> ViewPlan::add_directory(std::string_view path, WallTime modified) {
  return tree_.add_directory(path, modified);
}

Result<std::vector<SegmentExtent>> ViewPlan::take_extents() {
  std::vector<SegmentExtent> extents = std::exchange(extents_, {});
  const auto place = [](const SegmentExtent& each) {
    return std::tuple(each.segment, each.offset, each.length, each.checksum);
  };
  std::ranges::sort(extents, {}, place);
  extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const SegmentExtent& before = extents[i - 1];
    if (before.segment == extents[i].segment && before.offset == extents[i].offset &&
        before.length == extents[i].length) {
      return Error{Code::kInvalid, describe(before) + " has two checksums"};
    }
  }
  return extents;
}

}  // namespace paddle::sealed
