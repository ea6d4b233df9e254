// SPDX-License-Identifier: Apache-2.0
#include "fuse/buffer_pool.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace paddle::fuse {
namespace {

TEST(BufferPool, BuffersAreWholeAlignedPages) {
  BufferPool pool(5000, 1);
  EXPECT_EQ(pool.buffer_size(), 8192u);
  const auto lease = pool.lend();
  ASSERT_TRUE(lease);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lease.data()) % 4096, 0u);
  lease.data()[8191] = std::byte{1};
}

TEST(BufferPool, AReturnedBufferIsLentAgain) {
  BufferPool pool(4096, 1);
  std::byte* first = nullptr;
  {
    const auto lease = pool.lend();
    first = lease.data();
  }
  EXPECT_EQ(pool.lend().data(), first);
}

TEST(BufferPool, LendsMoreBuffersThanItKeeps) {
  BufferPool pool(4096, 1);
  auto a = pool.lend();
  auto b = pool.lend();
  EXPECT_NE(a.data(), b.data());
  b = std::move(a);
  EXPECT_TRUE(b);
}

}  // namespace
}  // namespace paddle::fuse
