// SPDX-License-Identifier: Apache-2.0
#include "api/crd/crd.h"

#include <fstream>
#include <functional>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/yaml_writer.h"
#include "api/schema/pod_schema.h"

namespace paddle::api {
namespace {

TEST(Crd, FilesInDeployMatchTheSource) {
  for (const auto& [name, text] : deploy_files()) {
    std::ifstream in(std::string(PADDLE_SOURCE_DIR) + "/deploy/" + name, std::ios::binary);
    const std::string kept{std::istreambuf_iterator<char>(in), {}};
    EXPECT_TRUE(kept == text) << "deploy/" << name << " is stale: run `make crds`";
  }
}

// kubectl keeps the whole object in an annotation; all annotations together may have 262144 bytes.
TEST(Crd, FitsIntoTheAnnotationOfClientSideApply) {
  for (const Kind kind : kAllKinds) EXPECT_LT(dump_json(crd(kind)).size(), 240'000u);
}

// What v1beta1 has at the top, v1 has per version.
Json modernized(const Json& old) {
  Json out = old;
  Json& spec = out["spec"];
  out["apiVersion"] = "apiextensions.k8s.io/v1";
  Json version{{"name", spec["version"]}, {"served", true}, {"storage", true}};
  version["schema"] = spec["validation"];
  version["subresources"] = spec["subresources"];
  for (const Json& column : spec["additionalPrinterColumns"]) {
    version["additionalPrinterColumns"].push_back(
        {{"name", column["name"]}, {"type", column["type"]}, {"jsonPath", column["JSONPath"]}});
    if (!column.contains("priority")) continue;
    version["additionalPrinterColumns"].back()["priority"] = column["priority"];
  }
  for (const char* key : {"version", "validation", "subresources", "additionalPrinterColumns",
                          "preserveUnknownFields"}) {
    spec.erase(key);
  }
  spec["versions"] = Json::array({version});
  return out;
}

Json without_news(const Json& schema, bool names = false) {
  if (!schema.is_structured()) return schema;
  Json out = schema.is_array() ? Json::array() : Json::object();
  for (const auto& [key, part] : schema.items()) {
    const bool news = key == "default" || key.starts_with("x-kubernetes-list") ||
                      key == "x-kubernetes-map-type" || key == "x-kubernetes-validations";
    if (schema.is_array()) {
      out.push_back(without_news(part));
    } else if (names || !news) {
      out[key] = without_news(part, key == "properties");
    }
  }
  return out;
}

TEST(Crd, V1beta1IsV1WithoutWhatOldServersDoNotSupport) {
  for (const Kind kind : kAllKinds) {
    const Json old = crd_v1beta1(kind);
    EXPECT_EQ(old["apiVersion"], "apiextensions.k8s.io/v1beta1");
    EXPECT_EQ(old["spec"]["preserveUnknownFields"], false);
    EXPECT_EQ(modernized(old), without_news(crd(kind)));
    const std::string text = dump_json(old);
    EXPECT_EQ(text.find("x-kubernetes-validations"), std::string::npos);
    EXPECT_EQ(text.find("x-kubernetes-list-type"), std::string::npos);
  }
}

TEST(Crd, DescribesOnlyOurOwnFields) {
  const Json& spec = (*describe(Kind::kPaddleJob).schema)["properties"]["spec"];
  for (const auto& [name, field] : spec["properties"].items()) {
    EXPECT_TRUE(field.contains("description")) << name;
  }
  EXPECT_EQ(dump_json(pod_template_schema()).find("\"description\""), std::string::npos);
}

TEST(PodSchema, KnowsContainersAndLeavesOutWhatTemplatesMayNotHave) {
  const Json& spec = pod_template_schema()["properties"]["spec"];
  const Json& container = spec["properties"]["containers"]["items"];
  EXPECT_EQ(spec["required"], Json({"containers"}));
  EXPECT_EQ(container["required"], Json({"name"}));
  EXPECT_TRUE(container["properties"].contains("image"));
  EXPECT_EQ(container["properties"]["ports"]["items"]["properties"]["protocol"]["default"], "TCP");
  EXPECT_FALSE(container["properties"]["env"].contains("x-kubernetes-list-type"));
  EXPECT_FALSE(spec["properties"].contains("ephemeralContainers"));
}

TEST(PodSchema, DistillsOnlyAWholeDocument) {
  EXPECT_TRUE(distill_pod_template(Json::object()).is(Code::kInvalid));
  constexpr const char* kTemplate = "io.k8s.api.core.v1.PodTemplateSpec";
  Json circle;
  circle["components"]["schemas"][kTemplate] = {
      {"properties", {{"spec", {{"$ref", "#/components/schemas/" + std::string(kTemplate)}}}}}};
  EXPECT_TRUE(distill_pod_template(circle).is(Code::kInvalid));
  circle["components"]["schemas"][kTemplate]["properties"]["spec"]["$ref"] = "#/x/Gone";
  EXPECT_TRUE(distill_pod_template(circle).is(Code::kInvalid));
}

TEST(YamlWriter, QuotesWhatYamlWouldMisread) {
  EXPECT_EQ(to_yaml({{"a", "True"},
                     {"b", "text: more"},
                     {"c", "12"},
                     {"d", "plain words"},
                     {"e", ""},
                     {"f", Json::array()},
                     {"g", "#x"},
                     {"no", 1}}),
            "a: \"True\"\nb: \"text: more\"\nc: \"12\"\nd: plain words\ne: \"\"\nf: []\ng: \"#x\"\n"
            "\"no\": 1\n");
  EXPECT_EQ(to_yaml({{"list", {{{"a", 1}, {"b", {1, 2}}}, "x"}}}),
            "list:\n- a: 1\n  b:\n  - 1\n  - 2\n- x\n");
}

}  // namespace
}  // namespace paddle::api
