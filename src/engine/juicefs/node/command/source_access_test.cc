// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/source_access.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using Words = std::vector<std::string>;

const SecretValues kKeys{{"access-key", "ak"}, {"secret-key", "s/k+"}};

TEST(SourceAccess, PassesKeysInTheVariablesOfTheirSdk) {
  const auto bos = source_access("bos://bucket.bj.bcebos.com/imagenet/demo", kKeys);
  ASSERT_TRUE(bos) << bos.error().message;
  EXPECT_EQ(*bos, (SourceAccess{.uri = "bos://bucket.bj.bcebos.com/imagenet/demo",
                                .env = {"BDCLOUD_ACCESS_KEY=ak", "BDCLOUD_SECRET_KEY=s/k+"}}));
  EXPECT_EQ(source_access("hdfs://nn:8020/data", {{"access-key", "hadoop"}})->env,
            Words{"HADOOP_USER_NAME=hadoop"});
  EXPECT_EQ(source_access("oss://b.oss-cn-x.aliyuncs.com", kKeys)->env,
            (Words{"ALICLOUD_ACCESS_KEY_ID=ak", "ALICLOUD_ACCESS_KEY_SECRET=s/k+"}));
}

TEST(SourceAccess, PassesSessionTokensAndRegions) {
  SecretValues more = kKeys;
  more["session-token"] = "tok";
  more["region"] = "r1";
  EXPECT_EQ(source_access("s3://b.s3.amazonaws.com/p", more)->env,
            (Words{"AWS_ACCESS_KEY_ID=ak", "AWS_SECRET_ACCESS_KEY=s/k+", "AWS_SESSION_TOKEN=tok",
                   "AWS_REGION=r1"}));
  EXPECT_EQ(source_access("minio://h:9000/b", more)->env,
            (Words{"AWS_ACCESS_KEY_ID=ak", "AWS_SECRET_ACCESS_KEY=s/k+", "AWS_SESSION_TOKEN=tok",
                   "MINIO_REGION=r1"}));
  EXPECT_TRUE(source_access("bos://b.e/p", more).is(Code::kInvalid));
}

TEST(SourceAccess, IsAnonymousWithoutKeys) {
  EXPECT_EQ(*source_access("bos://paddleflow-public.hkg.bcebos.com/imagenet/demo", {}),
            (SourceAccess{.uri = "bos://paddleflow-public.hkg.bcebos.com/imagenet/demo"}));
  EXPECT_EQ(source_access("s3://b.s3.amazonaws.com/p", {})->uri,
            "s3://anonymous:@b.s3.amazonaws.com/p");
  EXPECT_TRUE(source_access("minio://h:9000/b", {}).is(Code::kInvalid));
  EXPECT_EQ(source_access("bos://b.e/p", {{"secret-key", "of Redis"}})->env, Words{});
}

TEST(SourceAccess, AddsTheEndpointOfTheSecretToABareBucket) {
  SecretValues more = kKeys;
  more["endpoint"] = "http://store.local:9000/";
  const auto plain = source_access("s3://bucket/prefix", more);
  EXPECT_EQ(plain->uri, "s3://bucket.store.local:9000/prefix");
  EXPECT_TRUE(plain->no_https);
  more["endpoint"] = "https://bj.bcebos.com";
  EXPECT_EQ(source_access("bos://bucket/p", more)->uri, "bos://bucket.bj.bcebos.com/p");
  EXPECT_FALSE(source_access("bos://bucket/p", more)->no_https);
  EXPECT_EQ(source_access("bos://bucket.other.com/p", more)->uri, "bos://bucket.other.com/p");
}

TEST(SourceAccess, RefusesUnknownSchemesAndThoseThatWouldShowKeys) {
  const auto shown = source_access("wasabi://b.s3.wasabisys.com/p", kKeys);
  ASSERT_TRUE(shown.is(Code::kInvalid));
  EXPECT_NE(shown.error().message.find("command line"), std::string::npos);
  EXPECT_EQ(shown.error().message.find("s/k+"), std::string::npos);
  const auto unknown = source_access("gopher://b/p", {});
  ASSERT_TRUE(unknown.is(Code::kInvalid));
  EXPECT_NE(unknown.error().message.find("bos"), std::string::npos);
  EXPECT_TRUE(source_access("s3://user:word@b.e/p", {}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::engine::juicefs
