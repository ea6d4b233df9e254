// SPDX-License-Identifier: Apache-2.0
//
// Writes the EROFS image of a tree: names, attributes and where the bytes of files lie on devices;
// no byte of a file (format.h). The kernel mounts it with those devices, and fsck.erofs accepts it.
//
//   Tree tree({segment_blocks});
//   CHECK_DONE(tree.add({.path = "a/b", .size = 5, .extents = extents}));   // in order
//   TRY(const std::uint64_t bytes, write_image(tree, {}, [&](std::string_view part) { ... }));
//
// The same tree gives the same bytes. Parts go to the sink in order, at most 1 MiB each; memory
// beside the tree is 4 bytes for each entry and the largest directory. Modes are 0444 and 0555,
// owner and group 0. Pure.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "erofs/tree.h"

namespace paddle::erofs {

using Sink = std::function<Result<>(std::string_view part)>;

struct ImageLimits {
  std::uint64_t bytes = std::uint64_t{1} << 40;
};

// Returns the size of the image, a multiple of 4096. kInvalid, and nothing went to the sink, when
// it would exceed a limit; otherwise the sink's own error.
Result<std::uint64_t> write_image(const Tree& tree, const ImageLimits& limits, const Sink& sink);

}  // namespace paddle::erofs
