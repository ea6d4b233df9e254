// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/readiness.h"

namespace paddle::cli {
namespace {

using testing::HasSubstr;

TEST(StartupReport, SurvivesARoundTrip) {
  for (const StartupReport& each :
       {StartupReport{StartupReport::Type::kStep, "one thing"},
        StartupReport{StartupReport::Type::kReady, ""},
        StartupReport{StartupReport::Type::kFailed, "no: not possible"}}) {
    std::string line = format_startup_report(each);
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    EXPECT_EQ(parse_startup_report(line), each);
  }
}

TEST(StartupReport, IsOneLineEvenIfTheReasonHasLineBreaks) {
  EXPECT_EQ(format_startup_report({StartupReport::Type::kFailed, "a\nready"}), "failed a ready\n");
  EXPECT_EQ(parse_startup_report("something else"), std::nullopt);
}

TEST(Prerequisites, AreReportedInOneSentenceWithARemedyWhenMissing) {
  const Prerequisites good{.root = true, .free_bytes = std::int64_t{1} << 30};
  EXPECT_TRUE(check_prerequisites(good, "/d"));
  Prerequisites bad = good;
  bad.root = false;
  EXPECT_THAT(check_prerequisites(bad, "/d").error().message, HasSubstr("sudo"));
  bad = good;
  bad.fuse_problem = "No such file or directory";
  EXPECT_THAT(check_prerequisites(bad, "/d").error().message, HasSubstr("modprobe fuse"));
  bad = good;
  bad.free_bytes = 1 << 20;
  EXPECT_THAT(check_prerequisites(bad, "/d").error().message, HasSubstr("the disk of /d is full"));
}

}  // namespace
}  // namespace paddle::cli
