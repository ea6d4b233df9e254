// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/path_list.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using Paths = std::vector<std::string>;

TEST(PathList, ThePartOfAPartitionFollowsTheSampler) {
  const Paths files{"0", "1", "2", "3", "4"};
  EXPECT_EQ(part_of_list(files, {.partitions = 2}, 1), (Paths{"1", "3"}));
  EXPECT_EQ(from_text(to_text(files)), files);
  EXPECT_EQ(from_text(""), Paths{});
}

}  // namespace
}  // namespace paddle::engine::juicefs
