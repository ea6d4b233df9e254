// SPDX-License-Identifier: Apache-2.0
#include "samplefs/read_ahead.h"

#include <gtest/gtest.h>

namespace paddle::samplefs {
namespace {

constexpr std::uint64_t kPiece = 128 << 10;

TEST(ReadAhead, StartsWhenAFileIsReadSequentiallyAndGrows) {
  ReadAhead ahead;
  EXPECT_EQ(ahead.observe(2, 0, kPiece), 0u) << "a look at the header is no run";
  std::uint64_t most = 0;
  for (std::uint64_t at = kPiece; at < 64 * kBlockSize; at += kPiece) {
    const std::uint64_t now = ahead.observe(2, at, kPiece);
    EXPECT_GE(now, most);
    most = now;
  }
  EXPECT_EQ(most, 4u);
}

TEST(ReadAhead, IgnoresRandomReads) {
  ReadAhead ahead;
  std::uint64_t at = 1;
  for (int i = 0; i < 1000; ++i) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    EXPECT_EQ(ahead.observe(2, (at >> 20) % (std::uint64_t{1} << 40), kPiece), 0u);
  }
}

TEST(ReadAhead, TracksSeveralFilesAndToleratesReordering) {
  ReadAhead ahead;
  for (std::uint64_t at = 0; at < kBlockSize; at += 2 * kPiece) {
    for (NodeId node = 2; node < 10; ++node) {
      ahead.observe(node, at + kPiece, kPiece);
      ahead.observe(node, at, kPiece);
    }
  }
  for (NodeId node = 2; node < 10; ++node) EXPECT_GE(ahead.observe(node, kBlockSize, kPiece), 1u);
}

TEST(ReadAhead, StartsAgainAfterASeek) {
  ReadAhead ahead;
  for (std::uint64_t at = 0; at < 4 * kBlockSize; at += kPiece) ahead.observe(2, at, kPiece);
  EXPECT_EQ(ahead.observe(2, 100 * kBlockSize, kPiece), 0u);
}

}  // namespace
}  // namespace paddle::samplefs
