// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/reconcile_cache.h"

#include <gtest/gtest.h>

namespace paddle::controllers::sample_set {
namespace {

using namespace std::chrono_literals;
using api::ObjectKey;

TEST(SampleSetReconcileCache, KeepsNothingOfSetsThatAreGone) {
  const ObjectKey one{"train", "one"}, two{"train", "two"};
  const ObjectKey keys{"train", "keys"}, token{"train", "one-runtime"};
  ReconcileCache cache;
  const BootTime start{1h};
  cache.put_secret(keys, SecretContents{.version = "u/1", .values = {{"secret-key", "x"}}}, start);
  cache.put_secret(token, SecretContents{.version = "t/1", .values = {{"token", "y"}}}, start);
  cache.keep_secrets(one, {keys, token});
  cache.keep_secrets(two, {keys});
  EXPECT_TRUE(cache.latest(keys));
  cache.forget(one);
  EXPECT_FALSE(cache.latest(token));
  EXPECT_TRUE(cache.latest(keys)) << "another set uses it";
  cache.keep_secrets(two, {});  // its spec names another Secret
  EXPECT_EQ(cache.secrets(), 0u);
}

TEST(SampleSetReconcileCache, ASecretIsReadAgainAfterItsAge) {
  const ObjectKey keys{"train", "keys"};
  ReconcileCache cache;
  const BootTime start{1h};
  EXPECT_FALSE(cache.secret(keys, start, 4s, 45s));
  cache.put_secret(keys, std::nullopt, start);
  EXPECT_FALSE(cache.secret(keys, start + 3s, 4s, 45s)->contents);
  EXPECT_FALSE(cache.secret(keys, start + 4s, 4s, 45s)) << "it may have been created";
  cache.put_secret(keys, SecretContents{.version = "u/1"}, start);
  EXPECT_EQ(cache.secret(keys, start + 44s, 4s, 45s)->contents->version, "u/1");
  EXPECT_FALSE(cache.secret(keys, start + 45s, 4s, 45s));
  EXPECT_TRUE(cache.latest(keys)) << "requests to runtimes use what is known";
}

TEST(SampleSetReconcileCache, ReadsWhyPodsAreMissingAgainAfterAWhile) {
  const ObjectKey set{"train", "one"};
  ReconcileCache cache;
  const BootTime start{1h};
  EXPECT_FALSE(cache.creation_error(set, start));
  cache.put_creation_error(set, "forbidden", start);
  EXPECT_EQ(cache.creation_error(set, start + 4s), "forbidden");
  EXPECT_FALSE(cache.creation_error(set, start + 5s));
  cache.put_creation_error(set, "", start);
  EXPECT_EQ(cache.creation_error(set, start), "") << "there was no event";
  cache.forget(set);
  EXPECT_FALSE(cache.creation_error(set, start));
}

TEST(SampleSetReconcileCache, CountsHowLongASetWaitsForAnAnswer) {
  const ObjectKey set{"train", "one"};
  ReconcileCache cache;
  const BootTime start{1h};
  EXPECT_EQ(cache.waits(set, start), 0s);
  EXPECT_EQ(cache.waits(set, start + 3s), 3s);
  cache.waits_no_longer(set);
  EXPECT_EQ(cache.waits(set, start + 9s), 0s);
}

}  // namespace
}  // namespace paddle::controllers::sample_set
