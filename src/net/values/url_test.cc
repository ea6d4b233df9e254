// SPDX-License-Identifier: Apache-2.0
#include "net/values/url.h"

#include <gtest/gtest.h>

namespace paddle::net {
namespace {

TEST(Url, EncodesEverythingThatIsNotUnreserved) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a/b c?d=%\xff"), "a%2Fb%20c%3Fd%3D%25%FF");
}

TEST(Url, ADotSegmentIsEncoded) {
  EXPECT_EQ(percent_encode(".."), "%2E%2E");
  EXPECT_EQ(percent_encode("."), "%2E");
  EXPECT_EQ(percent_encode("..."), "...");
}

TEST(Url, ShowsNeitherUserInfoNorQuery) {
  EXPECT_EQ(without_secrets("https://me:secret@h:1/p?token=t#f"), "https://h:1/p");
  EXPECT_EQ(without_secrets("https://h/p@q"), "https://h/p@q");
  EXPECT_EQ(without_secrets("http://a@b@h"), "http://h");
  EXPECT_EQ(without_secrets("me:secret@h/x"), "h/x");
  EXPECT_EQ(without_secrets(""), "");
}

TEST(Url, AddsQueriesInOrderAndSkipsEmptyOnes) {
  std::string url = "/p";
  add_query(url, "a", "1 2");
  add_query(url, "none", "");
  add_query(url, "b", "x&y");
  EXPECT_EQ(url, "/p?a=1%202&b=x%26y");
}

TEST(Url, HasAnOriginOfSchemeHostAndPort) {
  EXPECT_EQ(*origin_of("https://a.example/x"), (Origin{"https", "a.example", "443"}));
  EXPECT_EQ(*origin_of("http://u:p@[::1]:80/x"), (Origin{"http", "::1", "80"}));
  for (const char* bad :
       {"", "a.example", "ftp://a", "https://", "https://a b", "/x", "https://a:99999"}) {
    EXPECT_TRUE(origin_of(bad).is(Code::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace paddle::net
