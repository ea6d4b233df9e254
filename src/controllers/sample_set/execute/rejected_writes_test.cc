// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/rejected_writes.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::controllers::sample_set {
namespace {

using namespace std::chrono_literals;
using api::Json;

const api::Meta kRejectedSet{.key = {"train", "imagenet"}, .uid = "one"};
constexpr BootTime kStart{};

Action change(const std::string& version, const Json& value) {
  return PatchObject{OwnedKind::kRuntimes,
                     {"train", "imagenet-runtime"},
                     "uid",
                     version,
                     Json::array({{{"op", "add"}, {"path", "/spec"}, {"value", value}}})};
}

TEST(SampleSetRejectedWrites, WaitLongerBeforeEachRetry) {
  RejectedWrites rejected;
  const Action bad = change("1", "x");
  EXPECT_FALSE(rejected.waits(kRejectedSet, bad, kStart));
  rejected.add(kRejectedSet, bad, "no", kStart);
  EXPECT_EQ(rejected.waits(kRejectedSet, bad, kStart), "no");
  EXPECT_EQ(rejected.next(kRejectedSet, kStart), 1s);
  EXPECT_FALSE(rejected.waits(kRejectedSet, bad, kStart + 1s));
  EXPECT_EQ(rejected.next(kRejectedSet, kStart + 5s), 0s);
  rejected.add(kRejectedSet, bad, "never", kStart + 1s);
  EXPECT_EQ(rejected.waits(kRejectedSet, bad, kStart + 2s), "never");
  EXPECT_EQ(rejected.next(kRejectedSet, kStart + 1s), 2s);
}

TEST(SampleSetRejectedWrites, AreTheSameWriteForEveryVersionOfTheObject) {
  RejectedWrites rejected;
  rejected.add(kRejectedSet, change("1", "x"), "no", kStart);
  EXPECT_TRUE(rejected.waits(kRejectedSet, change("2", "x"), kStart));
  EXPECT_FALSE(rejected.waits(kRejectedSet, change("1", "corrected"), kStart))
      << "executed at once";
}

TEST(SampleSetRejectedWrites, AreForgottenWhenThePlanNoLongerHasThem) {
  RejectedWrites rejected;
  const Action label = LabelNode{"node-0", "label", "value"};
  rejected.add(kRejectedSet, change("1", "x"), "no", kStart);
  rejected.add(kRejectedSet, label, "no", kStart);
  rejected.keep_only(kRejectedSet, {change("3", "x")});
  EXPECT_TRUE(rejected.waits(kRejectedSet, change("1", "x"), kStart));
  EXPECT_FALSE(rejected.waits(kRejectedSet, label, kStart));
  rejected.keep_only(kRejectedSet, {});
  EXPECT_FALSE(rejected.next(kRejectedSet, kStart));
}

TEST(SampleSetRejectedWrites, OfOneSetDoNotAffectAnother) {
  RejectedWrites rejected;
  api::Meta namesake = kRejectedSet;
  namesake.uid = "two";
  rejected.add(kRejectedSet, change("1", "x"), "no", kStart);
  EXPECT_FALSE(rejected.waits(namesake, change("1", "x"), kStart));
  rejected.keep_only(namesake, {});
  EXPECT_TRUE(rejected.waits(kRejectedSet, change("1", "x"), kStart));
  rejected.forget(kRejectedSet.key);
  EXPECT_FALSE(rejected.next(kRejectedSet, kStart));
}

}  // namespace
}  // namespace paddle::controllers::sample_set
