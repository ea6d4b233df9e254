// SPDX-License-Identifier: Apache-2.0
#include "local/node/network.h"

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

TEST(AddressPool, DoesNotGiveAnAddressTwiceNorAgainAtOnce) {
  AddressPool pool(3);
  EXPECT_EQ(*pool.take(), 1u);
  EXPECT_EQ(*pool.take(), 2u);
  pool.give_back(1);
  EXPECT_EQ(*pool.take(), 3u);
  EXPECT_EQ(*pool.take(), 1u);
  EXPECT_TRUE(pool.take().is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::local
