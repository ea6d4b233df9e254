// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/reopening_source.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "source/fake/fake_s3.h"

namespace paddle::engine::samplefs {
namespace {

class ReopeningSourceTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
  }
  const Scratch scratch_{};
  const std::string directory_ = scratch_.path();
};

Result<source::Listed> list(ReopeningSource& source) {
  return source.list([](source::Object&&) -> Result<> { return Done{}; }, {});
}

TEST_F(ReopeningSourceTest, OnlyTheLineEndOfAKeyIsRemoved) {
  put("access-key", "me\n");
  put("secret-key", " s p+/= \r\n");
  put("session-token", "t");
  put("endpoint", "http://x:1\n");
  const auto secret = read_source_secret(directory_);
  ASSERT_TRUE(secret) << secret.error().message;
  EXPECT_EQ(secret->credentials.access_key, "me");
  EXPECT_EQ(secret->credentials.secret_key, " s p+/= ");
  EXPECT_EQ(secret->credentials.session_token, "t");
  EXPECT_EQ(secret->endpoint, "http://x:1");
  EXPECT_EQ(secret->region, "");
}

TEST_F(ReopeningSourceTest, NoSecretIsAnonymousAndHalfASecretIsAnError) {
  EXPECT_TRUE(read_source_secret("")->credentials.anonymous());
  EXPECT_TRUE(read_source_secret(directory_ + "/none")->credentials.anonymous());
  put("access-key", "me");
  EXPECT_TRUE(read_source_secret(directory_).is(Code::kInvalid));
  put("secret-key", std::string(100'000, 'x'));
  EXPECT_TRUE(read_source_secret(directory_).is(Code::kInvalid));
}

TEST_F(ReopeningSourceTest, ASourceThatAppearsLaterIsFoundByTheNextListing) {
  ReopeningSource source({.uri = "file://" + directory_ + "/later"});
  const auto missing = list(source);
  ASSERT_TRUE(missing.is(Code::kNotFound));
  EXPECT_NE(missing.error().message.find("does not exist"), std::string::npos);
  std::filesystem::create_directory(directory_ + "/later");
  put("later/x", "1");
  const auto listed = list(source);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects, 1u);
}

// S3 answers an expired session token with 400, not with 401 or 403.
TEST_F(ReopeningSourceTest, AnExpiredTokenIsReplacedByTheSecretsCurrentOne) {
  const source::S3Credentials fresh{
      .access_key = "fresh", .secret_key = "canary-key", .session_token = "canary-fresh"};
  source::FakeS3 server(fresh,
                        [](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
                          if (request.headers.at("x-amz-security-token") == "canary-fresh")
                            return false;
                          wire.reply(400, "<Error><Code>ExpiredToken</Code></Error>");
                          return true;
                        });
  server.put("a", "bytes");
  put("endpoint", server.url());
  put("access-key", "old");
  put("secret-key", "canary-key");
  put("session-token", "canary-old");
  ReopeningSource source({.uri = "s3://bucket", .secret_directory = directory_});
  std::string into(5, '?');
  const auto read = [&] {
    return source.read("a", "etag1", 0, std::as_writable_bytes(std::span(into)), {});
  };
  const auto refused = read();
  ASSERT_TRUE(refused.is(Code::kUnauthorized)) << "nothing has changed yet";
  EXPECT_EQ(refused.error().message.find("canary"), std::string::npos);
  EXPECT_EQ(server.seen().size(), 1u) << "the same token is not worth another attempt";

  put("access-key", fresh.access_key);
  put("session-token", fresh.session_token);
  const auto done = read();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(into, "bytes");
}

TEST_F(ReopeningSourceTest, ABucketWithItsEndpointInTheUriIsFoundWithoutASecret) {
  source::FakeS3 server{source::S3Credentials{}};
  server.put("n/a", "x");
  const std::string authority = server.url().substr(std::string("http://").size());
  ReopeningSource source(
      {.uri = "s3://" + std::string(source::FakeS3::kBucket) + "." + authority + "/n"});
  const auto listed = list(source);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects, 1u);
}

TEST_F(ReopeningSourceTest, AnErrorAboutAnInvalidUriDoesNotRepeatIt) {
  ReopeningSource source({.uri = "s3://key:canary@bucket/x"});
  const auto refused = list(source);
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_EQ(refused.error().message.find("canary"), std::string::npos);
}

TEST(ExplainSourceError, TellsWhatToDoAndKeepsTheCode) {
  for (const Code code : {Code::kForbidden, Code::kNotFound, Code::kUnavailable}) {
    const Error said = explain("s3://b/", "http://u:canary@h", {code, "the server answered"});
    EXPECT_EQ(said.code, code);
    EXPECT_NE(said.message.find("check"), std::string::npos) << said.message;
    EXPECT_NE(said.message.find("s3://b/"), std::string::npos);
    EXPECT_EQ(said.message.find("canary"), std::string::npos);
  }
  EXPECT_NE(explain("s3://b/", "http://h:1", {Code::kUnavailable, "x"}).message.find("http://h:1"),
            std::string::npos);
  EXPECT_EQ(explain("u", "", {Code::kCancelled, "stopped"}).message, "stopped");
}

TEST(ExplainSourceError, TellsThatALoopbackEndpointIsTheRuntimeItself) {
  const auto said = [](const std::string& endpoint) {
    return explain("s3://b/", endpoint, {Code::kUnavailable, "refused"}).message;
  };
  for (const char* endpoint : {"http://127.0.0.1:9000", "localhost:9000", "https://[::1]:9000/",
                               "http://0.0.0.0:9000", "127.0.1.1"}) {
    EXPECT_NE(said(endpoint).find("this address is itself"), std::string::npos) << said(endpoint);
  }
  for (const char* endpoint :
       {"http://10.0.0.7:9000", "", "http://localhost.example:1", "http://[fd00::1]:9000"}) {
    EXPECT_NE(said(endpoint).find("reached from this node"), std::string::npos) << endpoint;
  }
}

}  // namespace
}  // namespace paddle::engine::samplefs
