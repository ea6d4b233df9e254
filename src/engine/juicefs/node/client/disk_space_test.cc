// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/client/disk_space.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include "base/scratch.h"

namespace paddle::engine::juicefs {
namespace {

TEST(DiskSpace, EachDiskIsCountedOnce) {
  const Scratch scratch;
  const std::string& root = scratch.path();
  std::filesystem::create_directories(root + "/a");
  const DiskSpace once = space_of({root});
  struct statvfs seen {};
  ASSERT_EQ(::statvfs(root.c_str(), &seen), 0);
  EXPECT_EQ(once.size, static_cast<std::int64_t>(seen.f_blocks * seen.f_frsize));
  EXPECT_EQ(space_of({root, root + "/a", root + "/none"}).size, once.size);
  EXPECT_EQ(space_of({}), DiskSpace{});
}

}  // namespace
}  // namespace paddle::engine::juicefs
