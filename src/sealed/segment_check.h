// SPDX-License-Identifier: Apache-2.0
//
// Reads every byte that a view will show, before it is shown: an extent has no hole, its data have
// the checksum of its slot, and zeros follow up to the end of its last block (mmap shows them).
// EROFS itself has no checksum of data. Reads past the page cache, in the order of the disk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "sealed/plan/view_plan.h"

namespace paddle::sealed {

// How a store computes the checksum of a block; thread-safe.
using Checksum = std::function<std::uint64_t(std::span<const std::byte> data)>;

// `segments` are open files in the order of the plan. kInvalid and one sentence for the first
// extent that is damaged, kCancelled at `stop`.
Result<> check_segments(std::span<const int> segments, std::span<const SegmentExtent> extents,
                        const Checksum& checksum, std::stop_token stop);

}  // namespace paddle::sealed
