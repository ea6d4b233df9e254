// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/secret_text.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(Trimmed, RemovesWhiteSpaceAtTheEndsOnly) {
  EXPECT_EQ(trimmed(" a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\xe7\x8c\xab\n"), "\xe7\x8c\xab");
}

TEST(PercentEncoding, IsDecodedToTheSameText) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(percent_decoded(percent_encoded(all)), all);
  EXPECT_EQ(percent_encoded("pa/ss+"), "pa%2Fss%2B");
  EXPECT_EQ(percent_decoded("%2f"), "/");
  for (const char* broken : {"%", "%2", "a%zz", "%2g"}) {
    EXPECT_EQ(percent_decoded(broken), std::nullopt) << broken;
  }
}

TEST(HoldsPassword, FindsAPasswordButNoPort) {
  for (const char* address :
       {"u:p@host", ":p@host/x", "AK:a/b@bucket.host/x", "u:p@(host:3306)/db", "AK:12x/b@bucket"}) {
    EXPECT_TRUE(holds_password(address)) << address;
  }
  for (const char* address :
       {"host", "u@host", "u:@host", "host:9000/bucket/a@b", "nn1:8020,nn2:8020/a@b",
        "[::1]:9000/a@b", "(host:3306)/d@b", "host:/export/a@b", "u@host:22/x", "bucket/a:b@c"}) {
    EXPECT_FALSE(holds_password(address)) << address;
  }
}

}  // namespace
}  // namespace paddle::engine::juicefs
