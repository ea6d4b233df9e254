// SPDX-License-Identifier: Apache-2.0
#include "runtime/identity.h"

#include <gtest/gtest.h>

#include "tls/certificate.h"

namespace paddle::runtime {
namespace {

const WallTime kNow{std::chrono::seconds{1'800'000'000}};

TEST(RuntimeIdentity, IsRenewedInTheSecondHalfOfItsLife) {
  const auto data = *make_identity("train", "imagenet", {}, kNow);
  EXPECT_FALSE(needs_renewal(data, kNow));
  EXPECT_FALSE(needs_renewal(data, kNow + std::chrono::days{44}));
  EXPECT_TRUE(needs_renewal(data, kNow + std::chrono::days{46}));
}

TEST(RuntimeIdentity, IsRenewedWhenAnyPartIsMissingOrNonsense) {
  const auto good = *make_identity("train", "imagenet", {}, kNow);
  EXPECT_TRUE(needs_renewal({}, kNow));
  EXPECT_TRUE(
      needs_renewal({{engine::kTokenKey, "only"}}, kNow));  // of an operator before this one
  for (const char* key : {engine::kTokenKey, kKey, kCertificate, kAuthority}) {
    auto data = good;
    data.erase(key);
    EXPECT_TRUE(needs_renewal(data, kNow)) << key;
  }
  for (const char* key : {kCertificate, kAuthority}) {
    auto data = good;
    data[key] = "nonsense";
    EXPECT_TRUE(needs_renewal(data, kNow)) << key;
  }
}

TEST(RuntimeIdentity, KeepsTheOneBeforeAndNoneOlder) {
  const auto first = *make_identity("train", "imagenet", {}, kNow);
  const auto second = *make_identity("train", "imagenet", first, kNow);
  const auto third = *make_identity("train", "imagenet", second, kNow);
  EXPECT_EQ(first.at(kTokenBefore), "");
  EXPECT_EQ(second.at(kTokenBefore), first.at(engine::kTokenKey));
  EXPECT_NE(second.at(engine::kTokenKey), first.at(engine::kTokenKey));
  EXPECT_EQ(third.at(kTokenBefore), second.at(engine::kTokenKey));
  EXPECT_NE(second.at(kAuthority).find(first.at(kAuthority)), std::string::npos);
  EXPECT_EQ(third.at(kAuthority).find(first.at(kAuthority)), std::string::npos);
}

TEST(RuntimeIdentity, WithoutItsAuthorityNobodyIsSpokenToInTheClear) {
  const auto whole = *make_identity("train", "imagenet", {}, kNow);
  EXPECT_TRUE(access_from(whole, "train", "imagenet", true).tls);
  EXPECT_FALSE(access_from(whole, "train", "imagenet", false).tls);
  auto damaged = whole;
  damaged.erase(kAuthority);
  const Access access = access_from(damaged, "train", "imagenet", true);
  const auto asked = Client("127.0.0.1:1", access).status();
  ASSERT_TRUE(asked.is(Code::kUnavailable));
  EXPECT_NE(asked.error().message.find("in the clear"), std::string::npos) << asked.error().message;
}

TEST(RuntimeIdentity, NamesMayBeAsLongAsTheyCan) {
  EXPECT_TRUE(make_identity(std::string(63, 'n'), std::string(44, 's'), {}, kNow));
}

}  // namespace
}  // namespace paddle::runtime
