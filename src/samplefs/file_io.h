// SPDX-License-Identifier: Apache-2.0
//
// Whole reads and writes at an offset, with the hint that the page cache need not keep the bytes
// (RWF_DONTCACHE, Linux 6.14; plain I/O on older kernels and file systems without it).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace paddle::samplefs {

// Fills `first`, then `second`, from `offset` on. False: too few bytes, or an error.
bool read_whole(int fd, std::uint64_t offset, std::span<std::byte> first,
                std::span<std::byte> second = {});

// Returns 0 or an errno.
int write_whole(int fd, std::uint64_t offset, std::span<const std::byte> bytes, bool keep_cached);

}  // namespace paddle::samplefs
