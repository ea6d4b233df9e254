// SPDX-License-Identifier: Apache-2.0
#include "cli/demo.h"

#include <cctype>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "cli/documents.h"
#include "cli/wait_condition.h"

namespace paddle::cli {
namespace {

TEST(Demo, EveryStepIsOneObjectOfItsNameWithAConditionThatCanBeWaitedFor) {
  for (const DemoStep& step : demo_steps("/data/samples")) {
    const auto documents = split_documents(step.file, step.manifest);
    ASSERT_TRUE(documents) << documents.error().message;
    ASSERT_EQ(documents->size(), 1u) << step.file;
    const api::Json& object = documents->front().object;
    std::string kind = api::look_text(object, "kind");
    for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(kind + "/" + api::look_text(object, "/metadata/name"), step.object);
    EXPECT_TRUE(parse_wait_condition(step.until)) << step.until;
    for (const std::string& figure : step.figures) {
      EXPECT_TRUE(parse_wait_condition(figure)) << figure;
    }
  }
}

TEST(Demo, ItsFilesAreBesideTheClustersDirectoryNotInIt) {
  EXPECT_EQ(demo_directory({.path = "/var/lib/x"}), "/var/lib/x-demo");
}

}  // namespace
}  // namespace paddle::cli
