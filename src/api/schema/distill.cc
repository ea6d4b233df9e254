// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "api/schema/pod_schema.h"

namespace paddle::api {
namespace {

constexpr const char* kQuantity =
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|"
    "([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

// Pods accept duplicates in these lists, so a template with them must pass too.
const std::set<std::string> kListsWithDuplicates{"env", "imagePullSecrets", "hostAliases"};

Json number_or_text(bool quantity) {
  Json out{{"x-kubernetes-int-or-string", true},
           {"anyOf", {{{"type", "integer"}}, {{"type", "string"}}}}};
  if (quantity) out["pattern"] = kQuantity;
  return out;
}

// What a template may specify of the metadata of its pod. Generated YAML has creationTimestamp:
// null.
Json template_metadata() {
  const Json text{{"type", "string"}};
  const Json texts{{"type", "object"}, {"additionalProperties", text}};
  return {
      {"type", "object"},
      {"properties",
       {{"name", text},
        {"namespace", text},
        {"generateName", text},
        {"labels", texts},
        {"annotations", texts},
        {"finalizers", {{"type", "array"}, {"items", text}}},
        {"creationTimestamp", {{"type", "string"}, {"format", "date-time"}, {"nullable", true}}}}}};
}

class Distiller {
 public:
  explicit Distiller(const Json& definitions) : definitions_(definitions) {}

  Result<Json> inlined(const Json& from, const std::string& name, int depth = 0) const {
    if (depth > kMaxDepth || !from.is_object()) return broken("is nested without end");
    if (from.contains("allOf") && from["allOf"].is_array() && from["allOf"].size() == 1) {
      return inlined(from["allOf"][0], name, depth + 1);
    }
    if (from.contains("$ref")) return referred(from["$ref"], name, depth + 1);

    Json out = Json::object();
    for (const char* key : {"type", "format", "required", "enum", "x-kubernetes-map-type",
                            "x-kubernetes-list-type", "x-kubernetes-list-map-keys"}) {
      if (from.contains(key)) out[key] = from[key];
    }
    if (out.contains("enum") && !contains(out["enum"], "")) out["enum"].push_back("");
    for (const char* key : {"items", "additionalProperties"}) {
      if (!from.contains(key)) continue;
      TRY(out[key], inlined(from[key], name, depth + 1));
    }
    if (from.contains("properties")) {
      for (const auto& [property, schema] : from["properties"].items()) {
        TRY(out["properties"][property], inlined(schema, property, depth + 1));
      }
    }
    settle_list(out, from, name);
    return out;
  }

 private:
  static Error broken(const std::string& how) {
    return {Code::kInvalid, "the OpenAPI document " + how};
  }
  static bool contains(const Json& list, const char* item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  }

  Result<Json> referred(const Json& reference, const std::string& name, int depth) const {
    if (!reference.is_string()) return broken("has a reference that is not text");
    const auto& text = reference.get_ref<const std::string&>();
    const std::string target = text.substr(text.rfind('/') + 1);
    if (target.ends_with("api.resource.Quantity")) return number_or_text(true);
    if (target.ends_with("util.intstr.IntOrString")) return number_or_text(false);
    if (target.ends_with("meta.v1.ObjectMeta")) return template_metadata();
    if (!definitions_.contains(target)) return broken("lacks " + target);
    return inlined(definitions_[target], name, depth);
  }

  // A key of a list-map must be required or have a default; no other default is kept.
  void settle_list(Json& out, const Json& from, const std::string& name) const {
    if (kListsWithDuplicates.contains(name)) {
      out.erase("x-kubernetes-list-type");
      out.erase("x-kubernetes-list-map-keys");
    }
    if (!out.contains("x-kubernetes-list-map-keys")) return;
    for (const auto& key : out["x-kubernetes-list-map-keys"]) {
      Json& item = out["items"];
      if (item.contains("required") && contains(item["required"], key.get<std::string>().c_str())) {
        continue;
      }
      item["properties"][key.get<std::string>()]["default"] = default_of(from["items"], key);
    }
  }

  Json default_of(const Json& item, const Json& key) const {
    const Json* at = &item;
    if (at->contains("allOf")) at = &(*at)["allOf"][0];
    if (at->contains("$ref")) {
      const std::string text = (*at)["$ref"].get<std::string>();
      at = &definitions_[text.substr(text.rfind('/') + 1)];
    }
    const Json& property = (*at)["properties"][key.get<std::string>()];
    return property.value("default", Json(""));
  }

  const Json& definitions_;
};

}  // namespace

Result<Json> distill_pod_template(const Json& openapi) {
  const Json::json_pointer where("/components/schemas");
  constexpr const char* kTemplate = "io.k8s.api.core.v1.PodTemplateSpec";
  if (!openapi.contains(where) || !openapi[where].contains(kTemplate)) {
    return Error{Code::kInvalid, "the OpenAPI document has no PodTemplateSpec"};
  }
  const Json& definitions = openapi[where];
  TRY(Json out, Distiller(definitions).inlined(definitions[kTemplate], "template"));
  out["required"] = {"spec"};
  Json& spec = out["properties"]["spec"];
  spec["properties"].erase("ephemeralContainers");  // the server refuses them in a template
  spec["properties"]["containers"]["minItems"] = 1;
  return out;
}

}  // namespace paddle::api
