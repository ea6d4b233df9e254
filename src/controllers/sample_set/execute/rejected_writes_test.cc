// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/rejected_writes.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::controllers::sample_set {
namespace {

using namespace std::chrono_literals;
using api::Json;

const api::Meta kRefusedSet{.key = {"train", "imagenet"}, .uid = "one"};
constexpr BootTime kStart{};

Action change(const std::string& version, const Json& value) {
  return PatchObject{OwnedKind::kRuntimes,
                     {"train", "imagenet-runtime"},
                     "uid",
                     version,
                     Json::array({{{"op", "add"}, {"path", "/spec"}, {"value", value}}})};
}

TEST(RejectedWrites, WaitBeforeTheyAreTriedAgainLongerEachTime) {
  RejectedWrites refusals;
  const Action bad = change("1", "x");
  EXPECT_FALSE(refusals.waits(kRefusedSet, bad, kStart));
  refusals.add(kRefusedSet, bad, "no", kStart);
  EXPECT_EQ(refusals.waits(kRefusedSet, bad, kStart), "no");
  EXPECT_EQ(refusals.next(kRefusedSet, kStart), 1s);
  EXPECT_FALSE(refusals.waits(kRefusedSet, bad, kStart + 1s));
  EXPECT_EQ(refusals.next(kRefusedSet, kStart + 5s), 0s);
  refusals.add(kRefusedSet, bad, "never", kStart + 1s);
  EXPECT_EQ(refusals.waits(kRefusedSet, bad, kStart + 2s), "never");
  EXPECT_EQ(refusals.next(kRefusedSet, kStart + 1s), 2s);
}

TEST(RejectedWrites, AreOfTheSameWriteWhateverVersionOfTheObjectItIsFor) {
  RejectedWrites refusals;
  refusals.add(kRefusedSet, change("1", "x"), "no", kStart);
  EXPECT_TRUE(refusals.waits(kRefusedSet, change("2", "x"), kStart));
  EXPECT_FALSE(refusals.waits(kRefusedSet, change("1", "corrected"), kStart)) << "tried at once";
}

TEST(RejectedWrites, AreForgottenWhenNothingAsksForThemAnyMore) {
  RejectedWrites refusals;
  const Action label = LabelNode{"node-0", "label", "value"};
  refusals.add(kRefusedSet, change("1", "x"), "no", kStart);
  refusals.add(kRefusedSet, label, "no", kStart);
  refusals.keep_only(kRefusedSet, {change("3", "x")});
  EXPECT_TRUE(refusals.waits(kRefusedSet, change("1", "x"), kStart));
  EXPECT_FALSE(refusals.waits(kRefusedSet, label, kStart));
  refusals.keep_only(kRefusedSet, {});
  EXPECT_FALSE(refusals.next(kRefusedSet, kStart));
}

TEST(RejectedWrites, OfOneSetAreNotAnothers) {
  RejectedWrites refusals;
  api::Meta namesake = kRefusedSet;
  namesake.uid = "two";
  refusals.add(kRefusedSet, change("1", "x"), "no", kStart);
  EXPECT_FALSE(refusals.waits(namesake, change("1", "x"), kStart));
  refusals.keep_only(namesake, {});
  EXPECT_TRUE(refusals.waits(kRefusedSet, change("1", "x"), kStart));
  refusals.forget(kRefusedSet.key);
  EXPECT_FALSE(refusals.next(kRefusedSet, kStart));
}

}  // namespace
}  // namespace paddle::controllers::sample_set
