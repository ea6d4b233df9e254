// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/object_limits.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;
namespace kinds = kube::resources;

Json object_with(const char* field, const std::string& key, const std::string& value) {
  return {{"metadata", {{field, {{key, value}}}}}};
}

TEST(ObjectLimits, LabelsHaveTheSyntaxOfKubernetes) {
  const std::string long_name(64, 'a');
  for (const char* good : {"a", "app", "example.com/my-name", "A_b.c-9", "a.b-c.d/x"}) {
    EXPECT_TRUE(check_labels_and_annotations(object_with("labels", good, "v"))) << good;
  }
  for (const std::string& bad :
       {std::string("bad key!"), std::string(""), std::string("-a"), std::string("a-"),
        std::string("Upper.com/a"), std::string("a/b/c"), std::string("/a"), std::string("a..b/c"),
        long_name}) {
    EXPECT_TRUE(check_labels_and_annotations(object_with("labels", bad, "v")).is(Code::kInvalid))
        << bad;
    EXPECT_TRUE(
        check_labels_and_annotations(object_with("annotations", bad, "v")).is(Code::kInvalid))
        << bad;
  }
  EXPECT_TRUE(check_labels_and_annotations(object_with("labels", "a", "")));
  for (const std::string& bad : {std::string("a b"), std::string("-a"), long_name}) {
    EXPECT_TRUE(check_labels_and_annotations(object_with("labels", "a", bad)).is(Code::kInvalid))
        << bad;
  }
}

TEST(ObjectLimits, AnnotationsHaveAtMost256KiBInAll) {
  const std::string most((std::size_t{256} << 10) - 1, 'x');
  EXPECT_TRUE(check_labels_and_annotations(object_with("annotations", "a", most)));
  EXPECT_TRUE(
      check_labels_and_annotations(object_with("annotations", "aa", most)).is(Code::kInvalid));
}

TEST(ObjectLimits, TheDataOfASecretIsBase64) {
  EXPECT_TRUE(check_data(kinds::kSecrets, {{"data", {{"a", "aGk="}}}}));
  EXPECT_TRUE(check_data(kinds::kSecrets, {{"data", {{"a", ""}}}}));
  EXPECT_TRUE(check_data(kinds::kSecrets, {{"data", {{"a", "%%%"}}}}).is(Code::kInvalid));
  EXPECT_TRUE(check_data(kinds::kSecrets, {{"data", {{"a", 5}}}}).is(Code::kInvalid));
  EXPECT_TRUE(check_data(kinds::kConfigMaps, {{"data", {{"a", "%%%"}}}}));
  EXPECT_TRUE(check_data(kinds::kConfigMaps, {{"binaryData", {{"a", "%%%"}}}}).is(Code::kInvalid));
  EXPECT_TRUE(check_data(kinds::kPods, {{"data", 5}}));
}

TEST(ObjectLimits, TheDataOfAConfigMapHasAtMostOneMebibyte) {
  const std::string most(std::size_t{1} << 20, 'x');
  EXPECT_TRUE(check_data(kinds::kConfigMaps, {{"data", {{"a", most}}}}));
  EXPECT_TRUE(
      check_data(kinds::kConfigMaps, {{"data", {{"a", most}, {"b", "x"}}}}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::local
