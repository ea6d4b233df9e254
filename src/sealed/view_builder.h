// SPDX-License-Identifier: Apache-2.0
//
// Makes the image of a view from an index and segments that an untrusted process wrote.
//
//   1. the index is copied once into memory of ours and checked as a whole (samplefs/index.h)
//   2. every block of every file is located; a segment that is met for the first time is opened
//      (safe_open.h), made immutable, and only then measured
//   3. every extent is checked against the size of its segment (plan/view_plan.h)
//   4. every byte that will be shown is read and checked (segment_check.h)
//   5. the image is written to a file of ours that has no name: no other process can open it, a
//      crash leaves nothing, and its space is free again with the last user of the view
//
// A failure at any step leaves nothing: no file, no flag. Not thread-safe per request; requests are
// independent.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "samplefs/block.h"
#include "samplefs/index.h"
#include "samplefs/store/extent.h"
#include "sealed/immutable.h"
#include "sealed/plan/view_plan.h"
#include "sealed/segment_check.h"

namespace paddle::sealed {

// Where the store has a block; nothing when it does not have it. What it returns is not trusted.
using Locate = std::function<std::optional<samplefs::Extent>(const samplefs::Block& block)>;

// A file of a cache: a directory of ours and the path beneath it.
struct CacheFile {
  int directory = -1;
  std::string path{};
};

struct ViewRequest {
  CacheFile index{};
  std::vector<int> tiers{};      // directories of the store's tiers, in order; -1: not for views
  std::optional<uid_t> owner{};  // of index and segments
  Locate locate{};
  Checksum checksum{};
  std::string image_directory{};  // ours, on a disk; no runtime can write there
  std::uint64_t max_index_bytes = std::uint64_t{2} << 30;
  std::uint64_t max_image_bytes = std::uint64_t{2} << 30;
  ViewLimits limits{};
  std::size_t max_segments = 4096;  // each is a descriptor
  std::size_t samples = 16;         // files to read back after the mount
};

// A file with what its bytes have to be, for view_check.h.
struct ReadBack {
  std::string path{};
  std::uint64_t size = 0;
  WallTime modified{};
  std::vector<SegmentExtent> extents{};
};

struct BuiltView {
  UniqueFd image{};
  std::vector<UniqueFd> segments{};  // held: release them in the ImmutableSegments
  std::uint64_t image_bytes = 0;
  std::uint64_t generation = 0;
  std::string digest{};  // of the index
  std::uint64_t entries = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint32_t root_entries = 0;
  std::vector<ReadBack> samples{};
};

// kNotFound when a block, or its segment, is not in the store: the set is not complete here.
// kInvalid with one sentence for anything that does not hold.
Result<BuiltView> build_view(const ViewRequest& request, ImmutableSegments& holds, Random& random,
                             std::stop_token stop);

}  // namespace paddle::sealed
