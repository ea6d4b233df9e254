// SPDX-License-Identifier: Apache-2.0
#include "fuse/mountinfo.h"

#include <gtest/gtest.h>

#include "fuse/mount.h"

namespace paddle::fuse {
namespace {

constexpr std::string_view kText =
    "21 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "36 27 0:52 / /mnt/a\\040b\\134 ro,noatime - fuse.samplefs my-set ro,user_id=0\n"
    "37 36 0:53 / /mnt/a\\040b\\134 ro shared:1 master:2 - fuse other ro\n"
    "garbage\n"
    "x 27 0:20 / /sys rw - sysfs sysfs rw\n"
    "38 27 0:54 / /short rw - ext4\n";

TEST(Mountinfo, ReadsLinesWithAndWithoutOptionalFields) {
  const auto mounts = parse_mountinfo(kText);
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[1], (MountEntry{36, "0:52", "/mnt/a b\\", "fuse.samplefs", "my-set"}));
  EXPECT_EQ(mounts[0].peer_group, 7);
  EXPECT_EQ(mounts[2].peer_group, 1);
  EXPECT_TRUE(mounts[1].is_fuse());
  EXPECT_FALSE(mounts[0].is_fuse());
  EXPECT_FALSE((MountEntry{.type = "fusectl"}.is_fuse()));
}

TEST(Mountinfo, TheLastMountOnAPointIsTheVisibleOne) {
  const auto mounts = parse_mountinfo(kText);
  EXPECT_EQ(top_of(mounts, "/mnt/a b\\")->device, "0:53");
  EXPECT_FALSE(top_of(mounts, "/mnt"));
}

TEST(Mountinfo, ThisProcessHasARoot) {
  const auto mounts = read_mountinfo();
  ASSERT_TRUE(mounts);
  EXPECT_TRUE(top_of(*mounts, "/"));
}

TEST(Mountinfo, AMountPointIsResolvedUpToItsLastNameOnly) {
  EXPECT_EQ(*canonical_mount_point("/proc/self/../zzz//"), "/proc/zzz");
  EXPECT_EQ(*canonical_mount_point("/zzz"), "/zzz");
  EXPECT_TRUE(canonical_mount_point("/").is(Code::kInvalid));
  EXPECT_TRUE(canonical_mount_point("").is(Code::kInvalid));
  EXPECT_TRUE(canonical_mount_point("/tmp/..").is(Code::kInvalid));
  EXPECT_TRUE(canonical_mount_point("/no/such/place").is(Code::kNotFound));
}

TEST(Mountinfo, MountOptionsCannotBeInjected) {
  const auto list = mount_data_options(5, {});
  ASSERT_TRUE(list);
  EXPECT_EQ(*list,
            "fd=5,rootmode=40000,user_id=0,group_id=0,default_permissions,max_read=1048576,"
            "allow_other");
  EXPECT_TRUE(mount_data_options(5, {.subtype = "a,suid"}).is(Code::kInvalid));
  EXPECT_TRUE(mount_data_options(5, {.source = ""}).is(Code::kInvalid));
  EXPECT_TRUE(mount_data_options(5, {.source = "a b"}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::fuse
