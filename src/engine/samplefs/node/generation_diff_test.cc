// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/generation_diff.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/samplefs/node/index_of_paths.h"

namespace paddle::engine::samplefs {
namespace {

using Paths = std::vector<std::string>;

Paths names_of(const GenerationDiff& changes) {
  Paths names;
  for (const auto& each : changes.names) names.push_back(each.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(GenerationDiff, HasNamesThatAreNewGoneOrChanged) {
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

TEST(GenerationDiff, FromAnEmptyIndexHasTheNamesOfTheRoot) {
  const auto nothing = index_of({});
  const GenerationDiff changes = diff_generations(*nothing, *index_of({"a/b", "c"}));
  EXPECT_EQ(names_of(changes), (Paths{"a", "c"}));
  EXPECT_EQ(changes.listings, std::vector<::paddle::samplefs::NodeId>{::paddle::samplefs::kRootId});
}

}  // namespace
}  // namespace paddle::engine::samplefs
