// SPDX-License-Identifier: Apache-2.0
//
// Decides how far to read ahead in large files: nothing until a file was read sequentially for a
// megabyte, then one block, and more as the run continues. It tracks several files at once;
// requests may arrive slightly out of order, because the kernel reads ahead too. Does no I/O; not
// thread-safe.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "samplefs/block.h"
#include "samplefs/file_system.h"

namespace paddle::samplefs {

class ReadAhead {
 public:
  // Returns how many blocks after the one that holds offset + size - 1 to fetch now.
  std::uint64_t observe(NodeId node, std::uint64_t offset, std::uint64_t size);

 private:
  struct Run {
    NodeId node = 0;
    std::uint64_t next = 0;   // expected next offset
    std::uint64_t bytes = 0;  // read in sequence so far
    std::uint64_t used = 0;   // time of the last read
  };
  std::array<Run, 64> runs_{};
  std::uint64_t now_ = 0;
};

}  // namespace paddle::samplefs
