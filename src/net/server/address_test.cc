// SPDX-License-Identifier: Apache-2.0
#include "net/server/address.h"

#include <gtest/gtest.h>

namespace paddle::net {
namespace {

TEST(Address, ReadsWhatFlagsSay) {
  EXPECT_EQ(*parse_address(":8081"), (Address{"", 8081}));
  EXPECT_EQ(*parse_address("127.0.0.1:0"), (Address{"127.0.0.1", 0}));
  EXPECT_EQ(*parse_address("localhost:80"), (Address{"localhost", 80}));
  EXPECT_EQ(*parse_address("[::1]:9000"), (Address{"::1", 9000}));
  EXPECT_EQ(to_string(*parse_address("[::1]:9000")), "[::1]:9000");
  EXPECT_EQ(to_string(*parse_address(":1")), ":1");
}

TEST(Address, RefusesEverythingElse) {
  for (const char* text : {"", "8081", "a:b", ":", ":-1", ":65536", ":99999999999", "::1:80",
                           "[::1:80", "[]:80", "a b:1", "http://x:80", ":80 ", ":+80", "\xff:80"}) {
    EXPECT_TRUE(parse_address(text).is(Code::kInvalid)) << text;
  }
}

}  // namespace
}  // namespace paddle::net
