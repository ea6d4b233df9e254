// SPDX-License-Identifier: Apache-2.0
//
// Many generations in a row on one node: nothing grows.

#include <filesystem>

#include <sys/mount.h>
#include <unistd.h>

#include "fuse/mountinfo.h"
#include "test/sealed/sealed_fixture.h"

namespace paddle::test {
namespace {

using Generations = SealedTest;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += each.is_symlink() ? 1 : 0;
  }
  return count;
}

TEST_F(Generations, TenInARowLeaveNoMountNoDescriptorAndNoImage) {
  const std::string target = make_target("target");
  cache_.add_samples(20, 5000);
  cache_.write();
  const std::size_t mounts = fuse::read_mountinfo()->size();
  const std::size_t descriptors = open_descriptors();
  for (std::uint64_t generation = 1; generation <= 10; ++generation) {
    cache_.add("generation-" + std::to_string(generation), sample_bytes(generation, 6000));
    cache_.write(generation);
    const auto view = seal();
    ASSERT_TRUE(view) << generation;
    EXPECT_EQ(view->generation(), generation);
    ASSERT_TRUE(view->show(target));
    EXPECT_EQ(wrong_files(target, cache_), std::vector<std::string>{});
    ASSERT_TRUE(view->hide(target));
    ASSERT_TRUE(view->end());
    // The kernel has given up the file system, and with it the image, which has no name.
    EXPECT_FALSE(std::filesystem::exists("/sys/class/bdi/" + view->bdi())) << view->bdi();
  }
  EXPECT_EQ(fuse::read_mountinfo()->size(), mounts);
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(holds_.held(), 0u);
  EXPECT_TRUE(std::filesystem::is_empty(cache_.images()));
}

}  // namespace
}  // namespace paddle::test
