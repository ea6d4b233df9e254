// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_secret.h"

#include <gtest/gtest.h>

namespace paddle::engine::samplefs {
namespace {

TEST(SourceSecret, WithoutOptionsEverythingIsAsUsual) {
  const auto secret = source_secret_of({});
  ASSERT_TRUE(secret);
  EXPECT_EQ(*secret, SourceSecret{});
  EXPECT_TRUE(secret->path_style);
  EXPECT_TRUE(secret->etag_is_md5);
  EXPECT_FALSE(secret->version_ids);
  EXPECT_EQ(secret->bytes_per_second, 0u);
}

TEST(SourceSecret, OptionsSayHowTheServerIsUsed) {
  const auto secret = source_secret_of({{"ca.crt", "PEM"},
                                        {"address-style", "virtual"},
                                        {"bwlimit", "80"},
                                        {"list-threads", "1"},
                                        {"version-ids", "true"},
                                        {"etag-is-md5", "false"}});
  ASSERT_TRUE(secret) << secret.error().message;
  EXPECT_EQ(secret->ca_pem, "PEM");
  EXPECT_FALSE(secret->path_style);
  EXPECT_EQ(secret->bytes_per_second, 10'000'000u);
  EXPECT_EQ(secret->list_threads, 1u);
  EXPECT_TRUE(secret->version_ids);
  EXPECT_FALSE(secret->etag_is_md5);
  EXPECT_NE(*secret, SourceSecret{});
}

TEST(SourceSecret, AWrongValueIsNamedByItsKey) {
  for (const auto& [name, value] : KeyValues{{"address-style", "host"},
                                             {"bwlimit", "-1"},
                                             {"list-threads", "65"},
                                             {"version-ids", "yes"},
                                             {"etag-is-md5", "0"}}) {
    const auto secret = source_secret_of({{name, value}});
    ASSERT_TRUE(secret.is(Code::kInvalid)) << name;
    EXPECT_NE(secret.error().message.find("'" + name + "'"), std::string::npos);
  }
  EXPECT_TRUE(source_secret_of({{"bwlimit", "1x"}}).is(Code::kInvalid));
  EXPECT_TRUE(source_secret_of({{"bwlimit", "0"}}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::engine::samplefs
