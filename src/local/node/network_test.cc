// SPDX-License-Identifier: Apache-2.0
#include "local/node/network.h"

#include <set>

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

TEST(AddressPool, DoesNotAllocateAnAddressTwiceNorReuseItAtOnce) {
  AddressPool pool(3);
  EXPECT_EQ(*pool.take(), 1u);
  EXPECT_EQ(*pool.take(), 2u);
  pool.give_back(1);
  EXPECT_EQ(*pool.take(), 3u);
  EXPECT_EQ(*pool.take(), 1u);
  EXPECT_TRUE(pool.take().is(Code::kUnavailable));
}

TEST(FreeRange, IsTheWantedRangeOrTheNextUnusedOne) {
  EXPECT_EQ(free_range(70, {}), 70u);
  EXPECT_EQ(free_range(70, {70, 71, 73}), 72u);
  EXPECT_EQ(free_range(127, {127}), 64u);
  std::set<unsigned> all;
  for (unsigned i = 64; i < 128; ++i) all.insert(i);
  EXPECT_EQ(free_range(70, all), 70u);
}

}  // namespace
}  // namespace paddle::local
