// SPDX-License-Identifier: Apache-2.0
#include "source/source_uri.h"

#include <gtest/gtest.h>

#include "source/path_rules.h"

namespace paddle::source {
namespace {

TEST(SourceUri, ParsesADirectory) {
  const auto uri = parse_source_uri("file:///data/images//");
  ASSERT_TRUE(uri);
  EXPECT_EQ(std::get<DirectoryUri>(*uri).path, "/data/images");
  EXPECT_EQ(to_string(*uri), "file:///data/images");
}

TEST(SourceUri, ParsesABucketWithThePrefixAsADirectory) {
  EXPECT_EQ(std::get<S3Uri>(*parse_source_uri("s3://my-bucket")),
            (S3Uri{.bucket = "my-bucket", .prefix = ""}));
  EXPECT_EQ(std::get<S3Uri>(*parse_source_uri("s3://my-bucket/")),
            (S3Uri{.bucket = "my-bucket", .prefix = ""}));
  EXPECT_EQ(std::get<S3Uri>(*parse_source_uri("s3://my-bucket/a b/c%20")),
            (S3Uri{.bucket = "my-bucket", .prefix = "a b/c%20/"}));
}

TEST(SourceUri, RejectsInvalidUrisWithoutRepeatingSecrets) {
  for (const char* text : {"",
                           "/data",
                           "http://host/data",
                           "file://host/data",
                           "file://data",
                           "file:///",
                           "file:///a/../etc",
                           "file:///a//b",
                           "s3://",
                           "s3:///key",
                           "s3://b",
                           "s3://-bucket/x",
                           "s3://bucket/a/../b",
                           "s3://bucket//a",
                           "s3://bu cket/a",
                           "S3://bucket/a",
                           "s3://bucket/\n",
                           "s3://AKIA:hunter2@bucket/a",
                           "s3://bucket:9000/a",
                           "s3://bucket.host:hunter2/a",
                           "bos://AKIA@bucket.bj.bcebos.com/a",
                           "bos://",
                           "hdfs://hunter2/x"}) {
    const auto uri = parse_source_uri(text);
    ASSERT_TRUE(uri.is(Code::kInvalid)) << text;
    EXPECT_EQ(uri.error().message.find("hunter2"), std::string::npos);
  }
}

BucketAddress resolved(const std::string& text, const std::string& secret_endpoint = "") {
  const auto uri = parse_source_uri(text);
  EXPECT_TRUE(uri) << text;
  EXPECT_EQ(to_string(*uri).substr(0, text.size()), text);
  auto address = resolve(std::get<S3Uri>(*uri), secret_endpoint);
  EXPECT_TRUE(address) << text;
  return address ? *address : BucketAddress{};
}

TEST(SourceUri, AnEndpointInTheUriIsReadAsOnAClusterUnlessTheSecretHasOne) {
  const BucketAddress bos = resolved("bos://paddleflow-public.hkg.bcebos.com/imagenet/demo");
  EXPECT_EQ(
      bos.uri,
      (S3Uri{.bucket = "paddleflow-public", .prefix = "imagenet/demo/", .store = Store::kBos}));
  EXPECT_EQ(bos.endpoint, "https://hkg.bcebos.com");
  EXPECT_EQ(resolved("bos://images/a", "https://bj.bcebos.com").endpoint, "https://bj.bcebos.com");

  EXPECT_EQ(resolved("s3://images.store.example/a").uri.bucket, "images");
  EXPECT_EQ(resolved("s3://images.store.example/a").endpoint, "https://store.example");
  EXPECT_EQ(resolved("s3://images.10.0.0.1:9000/a").endpoint, "http://10.0.0.1:9000");
  EXPECT_EQ(resolved("s3://my.images/a", "http://store:9000").uri.bucket, "my.images");
  EXPECT_EQ(resolved("s3://images").endpoint, "");
}

TEST(SourceUri, AnEndpointOfAwsSaysTheRegion) {
  const BucketAddress west = resolved("s3://images.s3.us-west-2.amazonaws.com/a");
  EXPECT_EQ(west.uri.bucket, "images");
  EXPECT_EQ(west.endpoint, "https://s3.us-west-2.amazonaws.com");
  EXPECT_EQ(west.region, "us-west-2");
  EXPECT_EQ(resolved("s3://images.s3.amazonaws.com/a").endpoint, "");
  EXPECT_EQ(resolved("s3://images.store.example/a").region, "");
}

TEST(SourceUri, ABosBucketWithoutAnEndpointSaysHowToWriteOne) {
  const auto address = resolve(std::get<S3Uri>(*parse_source_uri("bos://images/a")), "");
  ASSERT_TRUE(address.is(Code::kInvalid));
  EXPECT_NE(address.error().message.find("bos://bucket.bj.bcebos.com/prefix"), std::string::npos);
}

TEST(PathRules, AcceptPathsThatEveryFileSystemSupports) {
  EXPECT_TRUE(is_path("a"));
  EXPECT_TRUE(is_path("a/b c/\xe7\x8c\xab+.jpg"));
  EXPECT_TRUE(is_path("..a/.b"));
  EXPECT_TRUE(is_path(std::string(255, 'n')));
  for (const std::string& bad :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string("a/.."), std::string("a/./b"), std::string("a\0b", 3), std::string(256, 'n')}) {
    EXPECT_FALSE(is_path(bad)) << bad;
  }
  std::string deep = "d";
  while (deep.size() <= kMaxPathSize) deep += "/d";
  EXPECT_FALSE(is_path(deep));
}

TEST(PathRules, AcceptEtagsThatAreValidHeaderValues) {
  EXPECT_TRUE(is_etag("d41d8cd98f00b204e9800998ecf8427e-12"));
  for (const char* bad : {"", "a b", "a\"b", "a\r\nX: y", "\xff"}) EXPECT_FALSE(is_etag(bad));
}

}  // namespace
}  // namespace paddle::source
