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
  cache.put_secret(keys, {"u/1", {{"secret-key", "x"}}});
  cache.put_secret(token, {"t/1", {{"token", "y"}}});
  cache.keep_secrets(one, {keys, token});
  cache.keep_secrets(two, {keys});
  EXPECT_TRUE(cache.secret(keys, "u/1"));
  cache.forget(one);
  EXPECT_FALSE(cache.latest(token, "t"));
  EXPECT_TRUE(cache.secret(keys, "u/1")) << "another set uses it";
  cache.keep_secrets(two, {});  // its spec names another Secret
  EXPECT_EQ(cache.secrets(), 0u);
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
