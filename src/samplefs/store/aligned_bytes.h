// SPDX-License-Identifier: Apache-2.0
//
// Memory for direct I/O: aligned, not zeroed, with room up to the next multiple of the alignment.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "samplefs/store/format.h"

namespace paddle::samplefs {

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }  // NOLINT: of aligned_alloc()
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeBytes>;

inline AlignedBytes aligned_bytes(std::size_t size) {
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(kExtentAlignment, padded(size)));
  if (bytes == nullptr) throw std::bad_alloc();
  return AlignedBytes(bytes);
}

inline bool is_aligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % kExtentAlignment == 0;
}

}  // namespace paddle::samplefs
