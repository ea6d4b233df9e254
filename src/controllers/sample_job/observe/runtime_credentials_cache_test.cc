// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/observe/runtime_credentials_cache.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "engine/names.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::controllers::sample_job {
namespace {

using kube::Json;
namespace kinds = kube::resources;

// Every call fails with this code.
class FailingRuntime final : public runtime::RuntimeClient {
 public:
  explicit FailingRuntime(Code code) : code_(code) {}
  Result<runtime::StatusReport> status(std::stop_token) override { return error(); }
  Result<runtime::JobReport> job(const std::string&, std::stop_token) override { return error(); }
  Result<std::vector<runtime::JobReport>> jobs(std::stop_token) override { return error(); }
  Result<runtime::JobReport> put_job(const std::string&, const runtime::JobRequest&,
                                     std::stop_token) override {
    return error();
  }
  Result<> cancel(const std::string&, std::stop_token) override { return error(); }

 private:
  Error error() const { return {code_, "no"}; }
  const Code code_;
};

struct RuntimeCredentialsCacheTest : ::testing::Test {
  kube::FakeCluster server{};
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "u-1"}};
  Code fails_with = Code::kUnavailable;
  RuntimeCredentialsCache cache{server,
                                [this](const std::string&, const runtime::RuntimeCredentials&) {
                                  return std::make_unique<FailingRuntime>(fails_with);
                                }};

  void put_secret(const std::string& token) {
    Json secret = {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"data", {{engine::kTokenKey, base64_encode(token)}}}};
    const api::ObjectKey key{"train", engine::runtime_name(set)};
    secret["metadata"] = api::encode_meta({.key = key, .owners = {engine::owner_reference(set)}});
    (void)server.remove(kinds::kSecrets, key, {});
    ASSERT_TRUE(server.create(kinds::kSecrets, secret));
  }
  runtime::RuntimeCredentials credentials(bool tls = false) {
    const auto found = cache.get(set, tls, {});
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : runtime::RuntimeCredentials{};
  }
};

TEST_F(RuntimeCredentialsCacheTest, ReadsTheSecretAgainWhenARuntimeRejectsAnyCall) {
  int number = 0;
  for (const Code code : {Code::kUnauthorized, Code::kUntrusted}) {
    fails_with = code;
    const std::vector<std::function<void(runtime::RuntimeClient&)>> calls{
        [](runtime::RuntimeClient& runtime) { (void)runtime.status({}); },
        [](runtime::RuntimeClient& runtime) { (void)runtime.job("a", {}); },
        [](runtime::RuntimeClient& runtime) { (void)runtime.jobs({}); },
        [](runtime::RuntimeClient& runtime) { (void)runtime.put_job("a", {}, {}); },
        [](runtime::RuntimeClient& runtime) { (void)runtime.cancel("a", {}); },
    };
    for (const auto& call : calls) {
      const std::string token = std::to_string(++number);
      put_secret(token);
      if (number > 1) {
        const auto old = credentials();
        EXPECT_EQ(old.token, std::to_string(number - 1)) << "cached";
        call(*cache.client(set.meta.key, "10.0.0.1", old));
      }
      EXPECT_EQ(credentials().token, token);
    }
  }
}

TEST_F(RuntimeCredentialsCacheTest, KeepsCredentialsWhileARuntimeIsOnlyUnreachable) {
  put_secret("first");
  const auto first = credentials();
  put_secret("second");
  for (const Code code : {Code::kUnavailable, Code::kDeadline, Code::kNotFound, Code::kInvalid}) {
    fails_with = code;
    EXPECT_FALSE(cache.client(set.meta.key, "10.0.0.1", first)->status({}));
    EXPECT_EQ(credentials().token, "first") << name(code);
  }
}

TEST_F(RuntimeCredentialsCacheTest, ARejectionOfOldCredentialsDoesNotDropNewerOnes) {
  fails_with = Code::kUntrusted;
  put_secret("first");
  const auto slow = cache.client(set.meta.key, "10.0.0.1", credentials());
  EXPECT_FALSE(slow->status({}));
  put_secret("second");
  EXPECT_EQ(credentials().token, "second");
  put_secret("third");
  EXPECT_FALSE(slow->status({}));
  EXPECT_EQ(credentials().token, "second");
}

TEST_F(RuntimeCredentialsCacheTest, DoesNotCacheIncompleteCredentialsOrThoseOfADeletedSet) {
  put_secret("first");
  EXPECT_EQ(credentials(true).authority, "");
  put_secret("second");
  EXPECT_EQ(credentials(true).token, "second") << "the first was incomplete";
  EXPECT_EQ(credentials().token, "second");
  put_secret("third");
  set.meta.uid = "u-2";
  const auto found = cache.get(set, false, {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found) << "the Secret belongs to the deleted set";
}

}  // namespace
}  // namespace paddle::controllers::sample_job
