// SPDX-License-Identifier: Apache-2.0
#include "tls/certificate.h"

#include <gtest/gtest.h>

namespace paddle::tls {
namespace {

const Validity kValid{WallTime{std::chrono::seconds{1'800'000'000}},
                      WallTime{std::chrono::seconds{1'900'000'000}}};

TEST(Certificate, HasTheRequestedValidity) {
  const auto ca = make_self_signed({.common_name = "ca", .valid = kValid, .authority = true});
  ASSERT_TRUE(ca);
  EXPECT_EQ(*validity_of(ca->certificate), kValid);
  const Validity shorter{kValid.from, kValid.from + std::chrono::hours{1}};
  const auto leaf = make_signed({.common_name = "x", .names = "DNS:x.y", .valid = shorter}, *ca);
  ASSERT_TRUE(leaf);
  EXPECT_EQ(*validity_of(leaf->certificate + ca->certificate), shorter);
  EXPECT_TRUE(validity_of("nonsense").is(Code::kInvalid));
  EXPECT_TRUE(validity_of("").is(Code::kInvalid));
}

TEST(Certificate, IsNotMadeFromAnInvalidAuthority) {
  EXPECT_TRUE(make_signed({.common_name = "x", .valid = kValid}, {"a", "b"}).is(Code::kInvalid));
  EXPECT_FALSE(make_self_signed({.common_name = "x", .names = "no such kind", .valid = kValid}));
}

TEST(Certificate, TheFirstOfSeveralIsExtracted) {
  const auto one = *make_self_signed({.common_name = "a", .valid = kValid});
  const auto two = *make_self_signed({.common_name = "b", .valid = kValid});
  EXPECT_NE(one.certificate, two.certificate);
  EXPECT_EQ(first_certificate("x\n" + one.certificate + two.certificate), one.certificate);
  EXPECT_EQ(first_certificate(one.key), "");
  EXPECT_EQ(first_certificate(one.certificate.substr(0, 100)), "");
}

TEST(Certificate, TokensAreLongAndNeverTheSame) {
  EXPECT_EQ(random_hex(32)->size(), 64u);
  EXPECT_NE(*random_hex(32), *random_hex(32));
}

}  // namespace
}  // namespace paddle::tls
