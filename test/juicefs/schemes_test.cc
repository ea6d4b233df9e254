// SPDX-License-Identifier: Apache-2.0
//
// The table of schemes against the real `juicefs`: it has what the table says, and no more. It runs
// where there is no network, so each attempt ends at once.
#include <gtest/gtest.h>

#include "api/source_schemes.h"
#include "test/support/components.h"
#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {
namespace {

TEST(JuicefsSchemes, TheProgramHasThoseOfTheTableThatAreBuiltAndNoOther) {
  const ScratchDir scratch;
  const auto juicefs = component("juicefs");
  ASSERT_TRUE(juicefs) << juicefs.error().message;
  for (const api::SourceScheme& each : api::kSourceSchemes) {
    if (each.juicefs == api::JuicefsSupport::kNone || each.storage_only) continue;
    const std::string host = each.host_and_directory ? "host.invalid:" : "bucket.host.invalid";
    const Ran ran = run({.argv = {"/usr/bin/unshare", "--net", *juicefs, "sync", "--max-failure=1",
                                  std::string(each.name) + "://" + host + "/x/",
                                  "file://" + scratch.path() + "/"}});
    const std::string said = ran.out + ran.err;
    EXPECT_NE(ran.exit_code, 0) << each.name;
    EXPECT_EQ(said.find("panic"), std::string::npos) << each.name << ": " << said;
    EXPECT_EQ(said.find("invalid storage") == std::string::npos, api::is_built(each))
        << each.name << ": " << said;
  }
}

}  // namespace
}  // namespace paddle::test
