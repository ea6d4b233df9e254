// SPDX-License-Identifier: Apache-2.0
//
// The published examples: "Examples: Signature Calculations in AWS Signature Version 4" of the S3
// manual, and get-vanilla and get-vanilla-query-order-key-case of the AWS SigV4 test suite.
#include "source/s3/sigv4.h"

#include <gtest/gtest.h>

namespace paddle::source {
namespace {

std::string signature_of(const std::string& header) {
  return header.substr(header.find("Signature=") + 10);
}

const S3Credentials kExample{.access_key = "AKIAIOSFODNN7EXAMPLE",
                             .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                             .session_token = {}};

SigningScope may_2013() {
  return {.region = "us-east-1", .service = "s3", .now = *parse_rfc3339("2013-05-24T00:00:00Z")};
}

SigningRequest example(std::string path, Query query, Headers extra = {}) {
  Headers headers{{"host", "examplebucket.s3.amazonaws.com"},
                  {"x-amz-content-sha256", std::string(kEmptyPayloadHash)},
                  {"x-amz-date", "20130524T000000Z"}};
  headers.insert(headers.end(), extra.begin(), extra.end());
  return {.method = "GET",
          .path = std::move(path),
          .query = std::move(query),
          .headers = std::move(headers),
          .payload_hash = std::string(kEmptyPayloadHash)};
}

TEST(SigV4, SignsGetObjectWithARange) {
  const auto header =
      authorization(example("/test.txt", {}, {{"range", "bytes=0-9"}}), kExample, may_2013());
  EXPECT_EQ(header,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4, SignsGetBucketLifecycle) {
  EXPECT_EQ(signature_of(authorization(example("/", {{"lifecycle", ""}}), kExample, may_2013())),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(SigV4, SignsListObjects) {
  EXPECT_EQ(signature_of(authorization(example("/", {{"prefix", "J"}, {"max-keys", "2"}}), kExample,
                                       may_2013())),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SigV4, SignsPutObjectWithASpecialKey) {
  SigningRequest put = example(
      "/test%24file.text", {},
      {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}});
  put.method = "PUT";
  put.payload_hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  put.headers[1].second = put.payload_hash;
  EXPECT_EQ(uri_encode("/test$file.text", true), put.path);
  EXPECT_EQ(signature_of(authorization(put, kExample, may_2013())),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SigV4, PassesTheTestSuiteOfTheGeneralScheme) {
  const S3Credentials suite{.access_key = "AKIDEXAMPLE",
                            .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                            .session_token = {}};
  const SigningScope scope{
      .region = "us-east-1", .service = "service", .now = *parse_rfc3339("2015-08-30T12:36:00Z")};
  SigningRequest request{
      .method = "GET",
      .path = "/",
      .query = {},
      .headers = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
      .payload_hash = std::string(kEmptyPayloadHash)};
  EXPECT_EQ(signature_of(authorization(request, suite, scope)),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  request.query = {{"Param2", "value2"}, {"Param1", "value1"}};
  EXPECT_EQ(signature_of(authorization(request, suite, scope)),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(SigV4, EncodesUnusualKeys) {
  EXPECT_EQ(uri_encode("a b/c+d/\xe7\x8c\xab~.jpg", true), "a%20b/c%2Bd/%E7%8C%AB~.jpg");
  EXPECT_EQ(uri_encode("a/b", false), "a%2Fb");
}

}  // namespace
}  // namespace paddle::source
