// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_secret.h"

#include <gtest/gtest.h>

#include "tls/certificate.h"

namespace paddle::runtime {
namespace {

const WallTime kNow{std::chrono::seconds{1'800'000'000}};

TEST(RuntimeSecret, IsRenewedInTheSecondHalfOfItsLifetime) {
  const auto data = *make_runtime_secret("train", "imagenet", {}, kNow);
  EXPECT_FALSE(needs_renewal(data, kNow));
  EXPECT_FALSE(needs_renewal(data, kNow + std::chrono::days{44}));
  EXPECT_TRUE(needs_renewal(data, kNow + std::chrono::days{46}));
}

TEST(RuntimeSecret, WithAShortLifetimeIsNotRenewedAtOnce) {
  const std::chrono::minutes life{10};
  const auto data = *make_runtime_secret("train", "imagenet", {}, kNow, {.lifetime = life});
  EXPECT_FALSE(needs_renewal(data, kNow));
  EXPECT_FALSE(needs_renewal(data, kNow + std::chrono::minutes{3}));
  EXPECT_TRUE(needs_renewal(data, kNow + std::chrono::minutes{5}));
  EXPECT_EQ(tls::validity_of(data.at(kCertificate))->until, kNow + life);
}

TEST(RuntimeSecret, IsRenewedWhenAKeyIsMissingOrInvalid) {
  const auto good = *make_runtime_secret("train", "imagenet", {}, kNow);
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

TEST(RuntimeSecret, KeepsThePreviousTokenAndAuthorityAndNoneOlder) {
  const auto first = *make_runtime_secret("train", "imagenet", {}, kNow);
  const auto second = *make_runtime_secret("train", "imagenet", first, kNow);
  const auto third = *make_runtime_secret("train", "imagenet", second, kNow);
  EXPECT_EQ(first.at(kTokenBefore), "");
  EXPECT_EQ(second.at(kTokenBefore), first.at(engine::kTokenKey));
  EXPECT_NE(second.at(engine::kTokenKey), first.at(engine::kTokenKey));
  EXPECT_EQ(third.at(kTokenBefore), second.at(engine::kTokenKey));
  EXPECT_NE(second.at(kAuthority).find(first.at(kAuthority)), std::string::npos);
  EXPECT_EQ(third.at(kAuthority).find(first.at(kAuthority)), std::string::npos);
}

TEST(RuntimeSecret, OncePreviousIsForgottenOnlyTheCurrentTokenAndAuthorityAreLeft) {
  const auto first = *make_runtime_secret("train", "imagenet", {}, kNow);
  const auto second = *make_runtime_secret("train", "imagenet", first, kNow);
  const auto left = without_previous(second);
  EXPECT_EQ(left.at(kTokenBefore), "");
  EXPECT_EQ(left.at(kAuthority).find(first.at(kAuthority)), std::string::npos);
  EXPECT_EQ(second.at(kAuthority), left.at(kAuthority) + first.at(kAuthority));
  for (const char* key : {engine::kTokenKey, kCertificate, kKey}) {
    EXPECT_EQ(left.at(key), second.at(key)) << key;
  }
  EXPECT_EQ(renewal_of(left), renewal_of(second));
}

TEST(RuntimeSecret, WithoutItsAuthorityNoRuntimeIsCalledWithoutTls) {
  const auto whole = *make_runtime_secret("train", "imagenet", {}, kNow);
  EXPECT_TRUE(credentials_from(whole, "train", "imagenet", true).tls);
  EXPECT_FALSE(credentials_from(whole, "train", "imagenet", false).tls);
  auto damaged = whole;
  damaged.erase(kAuthority);
  const RuntimeCredentials access = credentials_from(damaged, "train", "imagenet", true);
  const auto asked = Client("127.0.0.1:1", access).status();
  ASSERT_TRUE(asked.is(Code::kUnavailable));
  EXPECT_NE(asked.error().message.find("without TLS"), std::string::npos) << asked.error().message;
}

TEST(RuntimeSecret, CredentialsAreCompleteWhenARuntimeCanBeCalled) {
  const auto whole = *make_runtime_secret("train", "imagenet", {}, kNow);
  EXPECT_TRUE(is_complete(credentials_from(whole, "train", "imagenet", true)));
  EXPECT_TRUE(
      is_complete(credentials_from({{engine::kTokenKey, "t"}}, "train", "imagenet", false)));
  EXPECT_FALSE(
      is_complete(credentials_from({{engine::kTokenKey, "t"}}, "train", "imagenet", true)));
  auto data = whole;
  data[kAuthority] = "nonsense";
  EXPECT_FALSE(is_complete(credentials_from(data, "train", "imagenet", true)));
  data = whole;
  data.erase(engine::kTokenKey);
  EXPECT_FALSE(is_complete(credentials_from(data, "train", "imagenet", true)));
}

TEST(RuntimeSecret, TheLongestNamesAreAccepted) {
  EXPECT_TRUE(make_runtime_secret(std::string(63, 'n'), std::string(44, 's'), {}, kNow));
}

}  // namespace
}  // namespace paddle::runtime
