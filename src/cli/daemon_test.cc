// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/readiness.h"

namespace paddle::cli {
namespace {

using testing::HasSubstr;

TEST(Report, ComesBackAsItWasWritten) {
  for (const Report& each : {Report{Report::Is::kStep, "one thing"}, Report{Report::Is::kReady, ""},
                             Report{Report::Is::kFailed, "no: not possible"}}) {
    std::string line = write_report(each);
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    EXPECT_EQ(parse_report(line), each);
  }
}

TEST(Report, IsOneLineWhateverTheReason) {
  EXPECT_EQ(write_report({Report::Is::kFailed, "a\nready"}), "failed a ready\n");
  EXPECT_EQ(parse_report("something else"), std::nullopt);
}

TEST(Means, WhatIsMissingIsOneSentenceWithAWayOut) {
  const Means good{.root = true, .free_bytes = std::int64_t{1} << 30};
  EXPECT_TRUE(check(good, "/d"));
  Means bad = good;
  bad.root = false;
  EXPECT_THAT(check(bad, "/d").error().message, HasSubstr("sudo"));
  bad = good;
  bad.fuse_problem = "No such file or directory";
  EXPECT_THAT(check(bad, "/d").error().message, HasSubstr("modprobe fuse"));
  bad = good;
  bad.free_bytes = 1 << 20;
  EXPECT_THAT(check(bad, "/d").error().message, HasSubstr("the disk of /d is full"));
}

}  // namespace
}  // namespace paddle::cli
