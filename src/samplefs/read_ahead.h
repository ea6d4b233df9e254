// SPDX-License-Identifier: Apache-2.0
//
// How far to read ahead in large files: nothing until a file has been read in sequence for a
// megabyte, then one block, and more as the run goes on. A few readers at once, each in its own
// file; the kernel's own read-ahead may deliver requests slightly out of order. Pure but for its
// own memory; not thread-safe.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "samplefs/block.h"
#include "samplefs/file_system.h"

namespace paddle::samplefs {

class ReadAhead {
 public:
  // How many blocks behind the one that holds offset + size - 1 are worth fetching now.
  std::uint64_t observe(NodeId node, std::uint64_t offset, std::uint64_t size);

 private:
  struct Run {
    NodeId node = 0;
    std::uint64_t next = 0;   // where the reader will go on
    std::uint64_t bytes = 0;  // read in sequence so far
    std::uint64_t used = 0;   // when it was last seen
  };
  std::array<Run, 64> runs_{};
  std::uint64_t now_ = 0;
};

}  // namespace paddle::samplefs
