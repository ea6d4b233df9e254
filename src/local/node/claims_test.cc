// SPDX-License-Identifier: Apache-2.0
#include "local/node/claims.h"

#include <gtest/gtest.h>

#include "engine/samplefs/volumes.h"

namespace paddle::local {
namespace {

const api::ObjectKey kKey{"n", "imagenet"};

BoundClaim claim() {
  BoundClaim made{.volume = "v", .bound = true};
  made.meta.key = kKey;
  made.meta.uid = "c";
  return made;
}

BoundVolume volume() {
  BoundVolume made{.driver = engine::samplefs::kDriver, .handle = "h", .claim_uid = "c"};
  made.meta.key.name = "v";
  return made;
}

TEST(Claims, ResolveToAMountOfASampleSetOrADirectory) {
  const auto ours = claim();
  auto theirs = volume();
  EXPECT_EQ(*resolve_claim(kKey, &ours, &theirs),
            ClaimTarget(SampleMount{"h", "imagenet-runtime"}));
  theirs = volume();
  theirs.driver.clear();
  theirs.host_path = "/srv";
  EXPECT_EQ(*resolve_claim(kKey, &ours, &theirs), ClaimTarget(HostDirectory{"/srv"}));
}

TEST(Claims, AreNotFoundWhileTheyAreUnbound) {
  auto waiting = claim();
  const auto there = volume();
  EXPECT_TRUE(resolve_claim(kKey, nullptr, nullptr).is(Code::kNotFound));
  EXPECT_TRUE(resolve_claim(kKey, &waiting, nullptr).is(Code::kNotFound));
  waiting.bound = false;
  EXPECT_TRUE(resolve_claim(kKey, &waiting, &there).is(Code::kNotFound));
  waiting = claim();
  waiting.meta.uid = "a namesake";
  EXPECT_TRUE(resolve_claim(kKey, &waiting, &there).is(Code::kNotFound));
}

TEST(Claims, OfOtherDriversOrWithInvalidHandlesAreRejected) {
  const auto ours = claim();
  auto odd = volume();
  odd.driver = "ebs.csi.aws.com";
  const auto refused = resolve_claim(kKey, &ours, &odd);
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_NE(refused.error().message.find("ebs.csi.aws.com"), std::string::npos);
  for (const char* handle : {"", "../x", ".."}) {
    odd = volume();
    odd.handle = handle;
    EXPECT_TRUE(resolve_claim(kKey, &ours, &odd).is(Code::kInvalid)) << handle;
  }
}

}  // namespace
}  // namespace paddle::local
