// SPDX-License-Identifier: Apache-2.0
#include "programs/flags/flag_parser.h"

#include <gtest/gtest.h>

#include "base/version.h"

namespace paddle::programs {
namespace {

TEST(BareCommandLine, HasHelpAndVersionOnly) {
  EXPECT_EQ(*parse_bare("paddlectl", "x", {"--version"}),
            std::string("paddlectl ") + kVersion + "\n");
  EXPECT_EQ(*parse_bare("paddlectl", "x", {}), "");
  EXPECT_NE(parse_bare("paddlectl", "x", {"-help"})->find("Examples:"), std::string::npos);
  EXPECT_TRUE(parse_bare("paddlectl", "x", {"local"}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::programs
