// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/volume_plan.h"

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

Volume volume(const std::string& name, const std::string& capacity = "10Gi") {
  Volume made{.storage_class = "fast", .capacity = capacity, .access_modes = {"ReadOnlyMany"}};
  made.meta.key.name = name;
  made.meta.uid = "uid-" + name;
  made.phase = "Available";
  return made;
}

Claim claim() {
  Claim made{.storage_class = "fast", .request = "5Gi", .access_modes = {"ReadOnlyMany"}};
  made.meta.key = {"n", "c"};
  made.meta.uid = "uid-c";
  made.phase = "Pending";
  return made;
}

std::string chosen(const BindPlan& plan) {
  for (const auto& action : plan) {
    if (const auto* named = std::get_if<NameVolume>(&action)) return named->volume;
  }
  return "";
}

TEST(VolumePlan, BindsTheSmallestSuitableVolume) {
  auto other_class = volume("a", "6Gi");
  other_class.storage_class = "slow";
  auto other_mode = volume("b", "6Gi");
  other_mode.access_modes = {"ReadWriteOnce"};
  auto taken = volume("d", "6Gi");
  taken.claim = ClaimReference{{"n", "another"}, "x"};
  EXPECT_EQ(chosen(desired_binding(claim(), {volume("big", "100Gi"), other_class, other_mode, taken,
                                             volume("small", "4Gi"), volume("right", "7Gi")})),
            "right");
  EXPECT_TRUE(desired_binding(claim(), {volume("small", "4Gi")}).empty()) << "it waits";
}

TEST(VolumePlan, BindsOnlyTheNamedVolume) {
  auto wanted = claim();
  wanted.volume = "mine";
  EXPECT_TRUE(desired_binding(wanted, {volume("other")}).empty());
  auto reserved = volume("mine");
  reserved.claim = ClaimReference{{"n", "c"}, ""};
  const BindPlan plan = desired_binding(wanted, {volume("other"), reserved});
  EXPECT_EQ(plan, (BindPlan{ReserveVolume{"mine", "", {{"n", "c"}, "uid-c"}},
                            SetVolumePhase{"mine", "uid-mine", "Bound"},
                            SetClaimStatus{"Bound", "10Gi", {"ReadOnlyMany"}}}));
  reserved.claim->uid = "an earlier claim of that name";
  EXPECT_TRUE(desired_binding(wanted, {reserved}).empty());
}

TEST(VolumePlan, AReservedVolumeWaitsForItsClaim) {
  auto reserved = volume("reserved", "1Gi");  // an explicit reservation overrides size and class
  reserved.claim = ClaimReference{{"n", "c"}, ""};
  EXPECT_EQ(chosen(desired_binding(claim(), {volume("any"), reserved})), "reserved");
  EXPECT_EQ(desired_phase(reserved, nullptr), "");
}

TEST(VolumePlan, SettlesAndDetectsALostVolume) {
  auto bound = claim();
  bound.volume = "v";
  bound.phase = "Bound";
  bound.capacity = "10Gi";
  auto held = volume("v");
  held.claim = ClaimReference{bound.meta.key, bound.meta.uid};
  held.phase = "Bound";
  EXPECT_TRUE(desired_binding(bound, {held}).empty());
  EXPECT_EQ(desired_phase(held, &bound), "");
  EXPECT_EQ(desired_phase(held, nullptr), "Released");
  auto namesake = bound;
  namesake.meta.uid = "later";
  EXPECT_EQ(desired_phase(held, &namesake), "Released");
  EXPECT_EQ(desired_binding(bound, {}), (BindPlan{SetClaimStatus{.phase = "Lost"}}));
}

TEST(VolumePlan, ComparesSizesByValueWhateverTheirUnits) {
  Claim wanted = claim();
  wanted.request = "1024Mi";
  const auto suits = [&](const std::string& capacity) {
    return chosen(desired_binding(wanted, {volume("v", capacity)})) == "v";
  };
  EXPECT_TRUE(suits("1Gi"));
  EXPECT_TRUE(suits("1.1e9"));
  EXPECT_FALSE(suits("1G"));
  EXPECT_FALSE(suits("5 apples"));
  EXPECT_FALSE(suits(""));
}

}  // namespace
}  // namespace paddle::local
