// SPDX-License-Identifier: Apache-2.0
#include "samplefs/growing_map.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::samplefs {
namespace {

long rss_anon_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  }
  return 0;
}

TEST(GrowingMap, GrowsWithoutMovingAndLeavesNoFile) {
  const Scratch scratch;
  for (const std::string& directory : {scratch.path(), std::string()}) {
    GrowingMap map(directory);
    EXPECT_EQ(map.begin(), nullptr);
    std::byte* first = *map.take(3);
    first[2] = std::byte{7};
    for (int i = 0; i < 100; ++i) {
      std::byte* next = *map.take(1'000'000);
      EXPECT_EQ(next, first + 3 + i * 1'000'000);
      EXPECT_EQ(next[999'999], std::byte{0});
      next[999'999] = std::byte{1};
    }
    EXPECT_EQ(map.size(), 100'000'003u);
    EXPECT_EQ(first[2], std::byte{7});
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  }
}

TEST(GrowingMap, InAFileItIsNoAnonymousMemory) {
  const Scratch scratch;
  const long before = rss_anon_kib();
  GrowingMap map(scratch.path());
  std::byte* room = *map.take(std::size_t{64} << 20);
  std::fill(room, room + map.size(), std::byte{1});
#if defined(__SANITIZE_THREAD__)
  constexpr long kShadow = 256L << 10;  // of the map, which is anonymous: four bytes for each
#else
  constexpr long kShadow = 0;
#endif
  EXPECT_LT(rss_anon_kib() - before, (32L << 10) + kShadow);
}

TEST(GrowingMap, ADirectoryThatIsNotThereIsAnError) {
  GrowingMap map("/no/such/directory");
  EXPECT_TRUE(map.take(1).is(Code::kUnavailable));
  EXPECT_TRUE(map.take(1).is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::samplefs
