// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/leftovers.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(Leftovers, NamesTellTheFileThatWasBeingWritten) {
  EXPECT_EQ(file_of_leftover("a/.jfs.b.jpg.tmp.42"), "a/b.jpg");
  EXPECT_EQ(file_of_leftover(".jfs.b.tmp.c.tmp.1"), "b.tmp.c");
  EXPECT_EQ(file_of_leftover("a/b.jpg"), "a/b.jpg");
}

}  // namespace
}  // namespace paddle::engine::juicefs
