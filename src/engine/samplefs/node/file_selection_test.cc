// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/file_selection.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/samplefs/node/index_of_paths.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Index;
using Paths = std::vector<std::string>;

std::vector<std::string> selected(const Index& index, const Selection& which) {
  std::vector<std::string> paths;
  const auto files = select_files(index, which);
  if (!files) return {files.error().message};
  for (const auto position : *files) paths.push_back(index.path_of(position));
  return paths;
}

TEST(FileSelection, IsAllFilesOrThoseBeneathThePaths) {
  const auto index = index_of({"a/1", "a/2", "a/b/3", "ab", "c"});
  EXPECT_EQ(selected(*index, {}), (Paths{"a/1", "a/2", "a/b/3", "ab", "c"}));
  EXPECT_EQ(selected(*index, {.paths = {"a"}}), (Paths{"a/1", "a/2", "a/b/3"}));
  EXPECT_EQ(selected(*index, {.paths = {"a/b/", "c", "a/b/3"}}), (Paths{"a/b/3", "c"}));
  EXPECT_TRUE(select_files(*index, {.paths = {"nope"}}).is(Code::kNotFound));
}

TEST(FileSelection, IsInTheOrderOfWholePathsWhateverTheOrderOfTheRequest) {
  const auto index = index_of({"a.txt", "a/1", "a/b/2", "a-b/3", "b"});
  const Paths all{"a-b/3", "a.txt", "a/1", "a/b/2", "b"};
  EXPECT_EQ(selected(*index, {}), all);
  EXPECT_EQ(selected(*index, {.paths = {"b", "a/b", "a", "a.txt", "a-b"}}), all);
}

TEST(FileSelection, FollowsTheSampler) {
  const auto index = index_of({"0", "1", "2", "3", "4", "5", "6"});
  const sampler::Strategy pairs{.order = sampler::Order::kDistributedBatch, .batch_size = 2};
  EXPECT_EQ(selected(*index, {.partition = 1, .partitions = 2, .strategy = pairs}),
            (Paths{"2", "3", "6", "0"}));
}

TEST(FileSelection, PartitionsCoverEverythingOnce) {
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

}  // namespace
}  // namespace paddle::engine::samplefs
