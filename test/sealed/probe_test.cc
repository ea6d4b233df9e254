// SPDX-License-Identifier: Apache-2.0
//
// The probe on file systems that can and cannot; answers of other kernels are in
// src/sealed/plan/probe_result_test.cc.

#include "sealed/probe.h"

#include <cerrno>
#include <filesystem>

#include <sys/mount.h>

#include "test/sealed/sealed_fixture.h"

namespace paddle::test {
namespace {

using ProbeTest = SealedTest;

TEST_F(ProbeTest, ADiskPassesAndNothingIsLeft) {
  const std::string directory = make_directory("disk");
  const auto seen = sealed::observe(directory, directory);
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->right_bytes);
  EXPECT_EQ(seen->beyond_end_error, EIO);
  EXPECT_TRUE(sealed::judge(*seen).sealed);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  EXPECT_EQ(count_views(), 0);
}

TEST_F(ProbeTest, AnImageInMemoryMeansFuse) {
  const std::string memory = make_directory("memory");
  ASSERT_EQ(::mount("tmpfs", memory.c_str(), "tmpfs", 0, "size=8m"), 0);
  const auto seen = sealed::observe(make_directory("disk"), memory);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->mount_error, ENOTBLK);
  EXPECT_NE(sealed::judge(*seen).reason.find("tmpfs"), std::string::npos);
}

TEST_F(ProbeTest, ACacheInMemoryMeansFuse) {
  const std::string memory = make_directory("memory");
  ASSERT_EQ(::mount("tmpfs", memory.c_str(), "tmpfs", 0, "size=8m"), 0);
  const auto result = sealed::probe(memory, make_directory("disk"));
  EXPECT_FALSE(result.sealed);
  EXPECT_NE(result.reason.find("memory"), std::string::npos) << result.reason;
}

TEST_F(ProbeTest, ACacheOnOverlayMeansFuse) {
  const std::string merged = make_directory("merged");
  const std::string options = "lowerdir=" + make_directory("lower") +
                              ",upperdir=" + make_directory("upper") +
                              ",workdir=" + make_directory("work");
  if (::mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) != 0) {
    GTEST_SKIP() << "no overlay here";
  }
  const auto result = sealed::probe(merged, merged);
  EXPECT_FALSE(result.sealed);
  EXPECT_NE(result.reason, "");
}

TEST_F(ProbeTest, ADirectoryThatIsMissingMeansFuse) {
  const auto result = sealed::probe(path("missing"), path("missing"));
  EXPECT_FALSE(result.sealed);
  EXPECT_NE(result.reason, "");
}

}  // namespace
}  // namespace paddle::test
