// SPDX-License-Identifier: Apache-2.0
//
// The probe against answers that a kernel may give: anything but the right ones means FUSE.
#include "sealed/plan/probe_result.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace paddle::sealed {
namespace {

ProbeObservation good() {
  return {.release = "6.18.44-generic", .right_bytes = true, .beyond_end_error = EIO};
}

TEST(ProbeResult, AKernelThatAnswersRightSeals) {
  EXPECT_EQ(judge(good()), (ProbeResult{.sealed = true}));
}

TEST(ProbeResult, ZerosBeyondTheEndMeanFuse) {
  auto seen = good();
  seen.beyond_end_read = true;
  seen.beyond_end_error = 0;
  EXPECT_FALSE(judge(seen).sealed);
  EXPECT_NE(judge(seen).reason, "");
  seen = good();
  seen.beyond_end_error = 0;
  EXPECT_FALSE(judge(seen).sealed) << "an empty answer is no error";
}

TEST(ProbeResult, AnImageFileThatTheKernelCannotReadMeansFuse) {
  auto seen = good();
  seen.mount_error = ENOTBLK;
  seen.file_system = "overlay";
  EXPECT_EQ(judge(seen), (ProbeResult{false,
                                      "the kernel cannot mount an EROFS image from a file "
                                      "on overlay"}));
}

TEST(ProbeResult, AMountOptionThatTheKernelDoesNotKnowMeansFuse) {
  auto seen = good();
  seen.mount_error = EINVAL;
  seen.mount_message = "Unknown parameter 'directio'";
  EXPECT_FALSE(judge(seen).sealed);
  EXPECT_NE(judge(seen).reason.find("directio"), std::string::npos);
}

TEST(ProbeResult, EveryOtherAnswerMeansFuseAndSaysWhy) {
  for (int error : {ENODEV, EPERM, EACCES, ENOMEM, EIO, EBUSY}) {
    auto seen = good();
    seen.mount_error = error;
    EXPECT_FALSE(judge(seen).sealed);
    EXPECT_NE(judge(seen).reason, "") << error;
  }
  auto seen = good();
  seen.immutable_error = EOPNOTSUPP;
  EXPECT_FALSE(judge(seen).sealed);
  seen = good();
  seen.cache_in_memory = true;
  EXPECT_FALSE(judge(seen).sealed);
  seen = good();
  seen.direct_error = EINVAL;
  EXPECT_FALSE(judge(seen).sealed);
  seen = good();
  seen.right_bytes = false;
  EXPECT_FALSE(judge(seen).sealed);
  seen = good();
  seen.read_error = EIO;
  EXPECT_FALSE(judge(seen).sealed);
}

TEST(ProbeResult, NothingSeenMeansFuse) { EXPECT_FALSE(judge({}).sealed); }

TEST(KernelVersions, TheOnesWithTheFixesAreFit) {
  for (const char* release : {"6.12.80", "6.12.81-amd64", "6.18.21", "6.18.44-fc-v509", "6.19.11+",
                              "7.0.0", "7.2-rc1", "10.0.1"}) {
    EXPECT_EQ(why_kernel_is_unfit(release), "") << release;
  }
}

TEST(KernelVersions, OlderOnesAndLinesWithoutAKnownFixAreNot) {
  for (const char* release :
       {"5.15.0", "6.1.0-18-amd64", "6.8.0-45-generic", "6.12.0-55.el10", "6.12.79", "6.13.12",
        "6.17.0-1004-aws", "6.18.20", "6.19.10", "", "linux", "7", "-6.18.44"}) {
    EXPECT_NE(why_kernel_is_unfit(release), "") << release;
  }
}

}  // namespace
}  // namespace paddle::sealed
