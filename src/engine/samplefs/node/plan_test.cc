// SPDX-License-Identifier: Apache-2.0
//
// The parts that only think: cache_limit, selection, changes.

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "engine/samplefs/node/cache_limit.h"
#include "engine/samplefs/node/file_selection.h"
#include "engine/samplefs/node/generation_diff.h"
#include "samplefs/index_builder.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Index;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(CacheLimit, IsWhatWasAskedForWhenTheDiskHasIt) {
  const CacheLimit limit =
      cache_limit(100, {.size = 1000 * kMiB, .avail = 50 * kMiB, .cached = 50 * kMiB});
  EXPECT_EQ(limit.bytes, 100 * kMiB);
  EXPECT_EQ(limit.notice, "");
}

TEST(CacheLimit, IsClippedToTheDiskAndSaysSo) {
  const CacheLimit limit =
      cache_limit(101, {.size = 1000 * kMiB, .avail = 50 * kMiB, .cached = 50 * kMiB});
  EXPECT_EQ(limit.bytes, 100 * kMiB);
  EXPECT_NE(limit.notice.find("100 MiB only, not of 101 MiB"), std::string::npos) << limit.notice;
  EXPECT_EQ(cache_limit(UINT64_MAX, {.size = kMiB, .avail = kMiB}).bytes, kMiB);
}

TEST(CacheLimit, WithoutAWishLeavesATenthOfWhatIsFreeOrOurs) {
  const CacheLimit limit =
      cache_limit(0, {.size = 1000 * kMiB, .avail = 60 * kMiB, .cached = 40 * kMiB});
  EXPECT_EQ(limit.bytes, 90 * kMiB);
  EXPECT_EQ(cache_limit(0, {}).bytes, 0u);
}

std::shared_ptr<const Index> index_of(const std::vector<std::string>& paths,
                                      const std::string& etag = "e") {
  const Scratch scratch;
  ::paddle::samplefs::IndexBuilder builder;
  for (const std::string& path : paths) {
    EXPECT_TRUE(builder.add({.path = path, .size = 1, .etag = etag}));
  }
  EXPECT_TRUE(builder.write(scratch.path() + "/index", 1));
  return *Index::open(scratch.path() + "/index");
}

std::vector<std::string> selected(const Index& index, const Selection& which) {
  std::vector<std::string> paths;
  const auto files = select_files(index, which);
  if (!files) return {files.error().message};
  for (const auto position : *files) paths.push_back(index.path_of(position));
  return paths;
}

using Paths = std::vector<std::string>;

TEST(Selection, IsEverythingOrWhatIsBeneathThePaths) {
  const auto index = index_of({"a/1", "a/2", "a/b/3", "ab", "c"});
  EXPECT_EQ(selected(*index, {}), (Paths{"a/1", "a/2", "a/b/3", "ab", "c"}));
  EXPECT_EQ(selected(*index, {.paths = {"a"}}), (Paths{"a/1", "a/2", "a/b/3"}));
  EXPECT_EQ(selected(*index, {.paths = {"a/b/", "c", "a/b/3"}}), (Paths{"a/b/3", "c"}));
  EXPECT_TRUE(select_files(*index, {.paths = {"nope"}}).is(Code::kNotFound));
}

TEST(Selection, IsInTheOrderOfWholePathsWhateverTheOrderOfTheWish) {
  const auto index = index_of({"a.txt", "a/1", "a/b/2", "a-b/3", "b"});
  const Paths all{"a-b/3", "a.txt", "a/1", "a/b/2", "b"};
  EXPECT_EQ(selected(*index, {}), all);
  EXPECT_EQ(selected(*index, {.paths = {"b", "a/b", "a", "a.txt", "a-b"}}), all);
}

TEST(Selection, FollowsTheSampler) {
  const auto index = index_of({"0", "1", "2", "3", "4", "5", "6"});
  const sampler::Strategy pairs{.order = sampler::Order::kDistributedBatch, .batch_size = 2};
  EXPECT_EQ(selected(*index, {.partition = 1, .partitions = 2, .strategy = pairs}),
            (Paths{"2", "3", "6", "0"}));
}

TEST(Selection, PartitionsCoverEverythingOnce) {
  Paths all;
  for (int i = 0; i < 100; ++i)
    all.push_back("d" + std::to_string(i % 7) + "/" + std::to_string(i));
  const auto index = index_of(all);
  Paths seen;
  for (int partition = 0; partition < 3; ++partition) {
    const Paths part = selected(*index, {.partition = partition, .partitions = 3});
    EXPECT_GE(part.size(), 33u);
    seen.insert(seen.end(), part.begin(), part.end());
  }
  std::sort(seen.begin(), seen.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(seen, all);
  EXPECT_TRUE(selected(*index_of({"one"}), {.partition = 1, .partitions = 2}).empty());
}

Paths names_of(const GenerationDiff& changes) {
  Paths names;
  for (const auto& each : changes.names) names.push_back(each.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(GenerationDiff, AreNamesThatAreNewGoneOrOther) {
  const auto before = index_of({"same", "gone", "d/x", "d/y", "old/z"});
  EXPECT_TRUE(diff_generations(*before, *before).names.empty());
  EXPECT_TRUE(diff_generations(*before, *before).listings.empty());

  const auto after = index_of({"same", "new", "d/x", "d/w", "fresh/z"});
  const GenerationDiff changes = diff_generations(*before, *after);
  EXPECT_EQ(names_of(changes), (Paths{"fresh", "gone", "new", "old", "w", "y"}));
  EXPECT_EQ(changes.listings.size(), 2u) << "the root and d";

  const auto rewritten = index_of({"same", "gone", "d/x", "d/y", "old/z"}, "other");
  EXPECT_EQ(names_of(diff_generations(*before, *rewritten)),
            (Paths{"gone", "same", "x", "y", "z"}));
}

TEST(GenerationDiff, FromNothingAreTheNamesOfTheRoot) {
  const auto nothing = index_of({});
  const GenerationDiff changes = diff_generations(*nothing, *index_of({"a/b", "c"}));
  EXPECT_EQ(names_of(changes), (Paths{"a", "c"}));
  EXPECT_EQ(changes.listings, std::vector<::paddle::samplefs::NodeId>{::paddle::samplefs::kRootId});
}

}  // namespace
}  // namespace paddle::engine::samplefs
