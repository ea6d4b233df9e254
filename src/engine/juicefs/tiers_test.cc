// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/tiers.h"

#include <gtest/gtest.h>

#include "engine/juicefs/cache_directories.h"
#include "engine/manifests.h"

namespace paddle::engine::juicefs {
namespace {

using Paths = std::vector<std::string>;

api::SampleSet set_with(std::vector<api::CacheLevel> levels) {
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "0123456789ab"}};
  if (!levels.empty()) set.spec.cache = api::Cache{.levels = std::move(levels)};
  return set;
}

api::SampleSet set_with_options(api::JuiceFSMountOptions options) {
  auto set = set_with({});
  set.spec.csi = api::Csi{.driver = "juicefs", .juicefs = std::move(options)};
  return set;
}

const Paths kAnywhere = {"/"};
const std::string kHandle = "/train-imagenet-01234567";

Tiers made(const api::SampleSet& set, const Paths& roots = kAnywhere) {
  auto tiers = tiers_of(set, roots);
  EXPECT_TRUE(tiers) << (tiers ? "" : tiers.error().message);
  return tiers ? *tiers : Tiers{};
}

TEST(JuicefsTiers, TheDefaultIsADirectoryOfTheSetInMemory) {
  EXPECT_EQ(made(set_with({}), default_cache_roots()),
            (Tiers{.directories = {"/dev/shm/train-imagenet-01234567"},
                   .mib = 1024,
                   .memory_mib = 1024,
                   .memory_limit = "3072Mi"}));
  EXPECT_EQ(made(set_with({}), {"/ssd/", "/hdd"}),
            (Tiers{.directories = {"/ssd/train-imagenet-01234567"}}));
}

TEST(JuicefsTiers, TwoSetsWithOnePathShareNoDirectory) {
  auto one = set_with({{.medium = "SSD", .path = "/ssd/cache:/ssd/cache/"}});
  auto other = one;
  other.meta.key.ns = "rival";
  other.meta.uid = "ba9876543210";
  EXPECT_EQ(made(one).directories, Paths{"/ssd/cache" + kHandle});
  EXPECT_EQ(made(other).directories, Paths{"/ssd/cache/rival-imagenet-ba987654"});
  const api::JuiceFSMountOptions options{.cache_dir = "/ssd/cache"};
  EXPECT_EQ(made(set_with_options(options)).directories, Paths{"/ssd/cache" + kHandle});
}

TEST(JuicefsTiers, WithoutRootsThereIsNoCache) {
  const auto refused = tiers_of(set_with({}), {});
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_NE(refused.error().message.find("--cache-roots"), std::string::npos);
  EXPECT_TRUE(tiers_of(set_with({{.path = "/ssd"}}), {}).is(Code::kInvalid));
}

TEST(JuicefsTiers, LevelsAreMergedAndTheirSizesAdded) {
  const auto tiers = made(set_with({{.medium = "SSD", .path = "/ssd/a/:/ssd/b", .size_mib = 100},
                                    {.medium = "HDD", .path = "/hdd/c:/ssd/a", .size_mib = 50}}));
  EXPECT_EQ(tiers,
            (Tiers{.directories = {"/ssd/a" + kHandle, "/ssd/b" + kHandle, "/hdd/c" + kHandle},
                   .mib = 150}));
}

TEST(JuicefsTiers, WithoutASizeADefaultOrTheUsersOptionLimitsIt) {
  EXPECT_EQ(made(set_with({{.medium = "SSD", .path = "/ssd"}})).mib, 102400);
  auto set = set_with_options({.cache_dir = "/data/cache", .cache_size = 0});
  EXPECT_EQ(made(set), (Tiers{.directories = {"/data/cache" + kHandle}, .mib = 0}));
  set.spec.cache = api::Cache{.levels = {{.medium = "SSD", .path = "/ssd"}}};
  EXPECT_EQ(made(set), (Tiers{.directories = {"/ssd" + kHandle}, .mib = 0}));
}

TEST(JuicefsTiers, ACacheInMemoryRaisesTheMountPodsLimit) {
  EXPECT_EQ(
      made(set_with({{.medium = "MEM", .path = "/dev/shm/a", .size_mib = 8192}})).memory_limit,
      "10240Mi");
  // Memory by its path, whatever it is called; each directory gets an equal share.
  EXPECT_EQ(made(set_with({{.medium = "SSD", .path = "/dev/shm/a", .size_mib = 1000},
                           {.medium = "HDD", .path = "/hdd", .size_mib = 9000}}))
                .memory_limit,
            "7048Mi");
  auto set = set_with({{.medium = "MEM", .path = "/ram", .size_mib = 1024}});
  set.spec.csi = api::Csi{.juicefs = api::JuiceFSMountOptions{.buffer_size = 1024}};
  EXPECT_EQ(made(set).memory_limit, "4096Mi");
}

TEST(JuicefsTiers, ACacheInMemoryWithoutASizeIsBounded) {
  const auto one = made(set_with({{.medium = "MEM", .path = "/ram"}}));
  EXPECT_EQ(one.mib, kDefaultMemoryMib);
  EXPECT_EQ(one.memory_mib, kDefaultMemoryMib);
  // JuiceFS gives each directory an equal share.
  const auto two =
      made(set_with({{.medium = "MEM", .path = "/dev/shm/a"}, {.medium = "SSD", .path = "/ssd"}}));
  EXPECT_EQ(two.mib, 2 * kDefaultMemoryMib);
  EXPECT_EQ(two.memory_mib, kDefaultMemoryMib);
  EXPECT_EQ(made(set_with({{.medium = "SSD", .path = "/ssd"}})).memory_mib, 0);
}

TEST(JuicefsTiers, ALargeBufferRaisesTheMountPodsLimit) {
  auto set = set_with_options({.buffer_size = 1024, .cache_dir = "/ssd"});
  EXPECT_EQ(made(set).memory_limit, "");
  set = set_with_options({.buffer_size = 6000, .cache_dir = "/ssd"});
  EXPECT_EQ(made(set).memory_limit, "8048Mi");
}

TEST(JuicefsTiers, TheClientsOwnMemoryNeedsASize) {
  EXPECT_TRUE(tiers_of(set_with_options({.cache_dir = "memory"}), kAnywhere).is(Code::kInvalid));
  EXPECT_EQ(
      made(set_with_options({.cache_dir = "memory", .cache_size = 1000})),
      (Tiers{
          .directories = {"memory"}, .mib = 1000, .memory_mib = 1000, .memory_limit = "3048Mi"}));
}

TEST(CacheDirectories, SystemDirectoriesAreRefused) {
  for (const char* good :
       {"/dev/shm", "/dev/shm/a", "/dev/ssd/cache2", "/ssd", "/data/cache", "/mnt/disk0/x",
        "/var/cache/x", "/var/lib/paddle", "/libx", "/home/user/x"}) {
    EXPECT_TRUE(check_directory(good, kAnywhere)) << good;
  }
  for (const char* bad : {"/",
                          "/bin",
                          "/boot/x",
                          "/dev",
                          "/dev/sda",
                          "/dev/shmx",
                          "/dev/disk/by-id",
                          "/dev/mapper/vg",
                          "/etc",
                          "/etc/kubernetes",
                          "/lib",
                          "/lib64/x",
                          "/proc/1",
                          "/root",
                          "/run/x",
                          "/sbin",
                          "/sys",
                          "/usr/local",
                          "/var",
                          "/var/lib",
                          "/var/lib/kubelet/pods",
                          "/var/lib/etcd",
                          "/var/run/x",
                          "",
                          "ssd",
                          "/a/../etc",
                          "/a//b",
                          "/a/./b",
                          "/a b",
                          "/a,b",
                          "/a=b",
                          "/a\nb",
                          "/a$(x)",
                          "/a(b)",
                          "/a#b",
                          "/a{b,c}",
                          "/a!b",
                          "/a[b]",
                          "/.."}) {
    EXPECT_TRUE(check_directory(bad, kAnywhere).is(Code::kInvalid)) << bad;
  }
}

TEST(CacheDirectories, MustBeBeneathTheAllowedRoots) {
  const Paths roots = {"/ssd/", "/dev/shm"};
  for (const char* good : {"/ssd", "/ssd/a", "/dev/shm/x"}) {
    EXPECT_TRUE(check_directory(good, roots)) << good;
  }
  for (const char* bad : {"/ssdx", "/hdd", "/dev"}) {
    EXPECT_TRUE(check_directory(bad, roots).is(Code::kInvalid)) << bad;
  }
  EXPECT_TRUE(check_directory("/ssd", {"/"}));
  EXPECT_TRUE(check_directory("/etc/x", {"/"}).is(Code::kInvalid));
  EXPECT_TRUE(tiers_of(set_with({{.path = "/hdd"}}), roots).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::engine::juicefs
