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

struct RuntimeCredentialsCacheTest : ::testing::Test {
  kube::FakeCluster server{};
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "u-1"}};
  RuntimeCredentialsCache cache{server};

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

TEST_F(RuntimeCredentialsCacheTest, ReadsTheSecretAgainWhenARuntimeRejectsThem) {
  int number = 0;
  put_secret(std::to_string(number));
  for (const Code code : {Code::kUnauthorized, Code::kUntrusted}) {
    const auto old = credentials();
    put_secret(std::to_string(++number));
    EXPECT_EQ(credentials().token, old.token) << "cached";
    cache.call_failed(set.meta.key, old, {code, "no"});
    EXPECT_EQ(credentials().token, std::to_string(number));
  }
}

TEST_F(RuntimeCredentialsCacheTest, KeepsCredentialsWhileARuntimeIsOnlyUnreachable) {
  put_secret("first");
  const auto first = credentials();
  put_secret("second");
  for (const Code code : {Code::kUnavailable, Code::kDeadline, Code::kNotFound, Code::kInvalid}) {
    cache.call_failed(set.meta.key, first, {code, "no"});
    EXPECT_EQ(credentials().token, "first") << name(code);
  }
}

TEST_F(RuntimeCredentialsCacheTest, ARejectionOfOldCredentialsDoesNotDropNewerOnes) {
  put_secret("first");
  const auto first = credentials();
  cache.call_failed(set.meta.key, first, {Code::kUntrusted, "no"});
  put_secret("second");
  EXPECT_EQ(credentials().token, "second");
  put_secret("third");
  cache.call_failed(set.meta.key, first, {Code::kUntrusted, "no"});
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
