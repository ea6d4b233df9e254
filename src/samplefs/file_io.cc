// SPDX-License-Identifier: Apache-2.0
#include "samplefs/file_io.h"

#include <array>
#include <atomic>
#include <cerrno>

#include <sys/uio.h>

namespace paddle::samplefs {
namespace {

constexpr int kDontCache = 0x80;  // RWF_DONTCACHE; Debian 12's headers are older

// After one refusal the flag is not tried again: cache directories rarely mix file systems.
std::atomic<int> supported = kDontCache;

bool unsupported(int flags) { return flags != 0 && (errno == EOPNOTSUPP || errno == EINVAL); }

}  // namespace

bool read_whole(int fd, std::uint64_t offset, std::span<std::byte> first,
                std::span<std::byte> second) {
  while (!first.empty() || !second.empty()) {
    const std::array<iovec, 2> parts{iovec{first.data(), first.size()},
                                     iovec{second.data(), second.size()}};
    const int flags = supported.load(std::memory_order_relaxed);
    const ssize_t got = ::preadv2(fd, parts.data(), 2, static_cast<off_t>(offset), flags);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && unsupported(flags)) {
      supported.store(0, std::memory_order_relaxed);
      continue;
    }
    if (got <= 0) return false;
    const auto size = static_cast<std::size_t>(got);
    const std::size_t in_first = std::min(size, first.size());
    first = first.subspan(in_first);
    second = second.subspan(size - in_first);
    offset += size;
  }
  return true;
}

int write_whole(int fd, std::uint64_t offset, std::span<const std::byte> bytes, bool keep_cached) {
  while (!bytes.empty()) {
    // NOLINTNEXTLINE: an iovec is not const even when it is only written from.
    const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    const int flags = keep_cached ? 0 : supported.load(std::memory_order_relaxed);
    const ssize_t put = ::pwritev2(fd, &part, 1, static_cast<off_t>(offset), flags);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && unsupported(flags)) {
      supported.store(0, std::memory_order_relaxed);
      continue;
    }
    if (put < 0) return errno;
    if (put == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return 0;
}

}  // namespace paddle::samplefs
