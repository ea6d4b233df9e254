// SPDX-License-Identifier: Apache-2.0
#include "api/crd/normalize.h"

#include <set>

#include <nlohmann/json.hpp>

#include "api/core/meta.h"
#include "api/schema/pattern.h"

namespace paddle::api {
namespace {

bool is_nullable(const Json& schema) { return schema.value("nullable", false); }

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// Recursion follows the schema, which is finite, not the object.
void normalize_object(Json& value, const Json& schema, const std::string& path,
                      std::vector<Problem>* unknown) {
  const auto properties = schema.find("properties");
  const auto others = schema.find("additionalProperties");
  for (auto field = value.begin(); field != value.end();) {
    const Json* about = nullptr;
    if (properties != schema.end() && properties->contains(field.key())) {
      about = &(*properties)[field.key()];
    } else if (others != schema.end() && others->is_object()) {
      about = &*others;
    } else if (schema.value("x-kubernetes-preserve-unknown-fields", false)) {
      ++field;
      continue;
    }
    if (!about) {
      if (unknown) unknown->push_back({joined(path, field.key()), "unknown field"});
      field = value.erase(field);
    } else if (field->is_null() && !is_nullable(*about)) {
      field = value.erase(field);
    } else {
      normalize(*field, *about, joined(path, field.key()), unknown);
      ++field;
    }
  }
  if (properties == schema.end()) return;
  for (const auto& [key, about] : properties->items()) {
    if (about.contains("default") && !value.contains(key)) value[key] = about["default"];
  }
}

}  // namespace

void normalize(Json& value, const Json& schema, const std::string& path,
               std::vector<Problem>* unknown) {
  if (value.is_object() && schema.value("type", "") == "object") {
    if (path != "metadata") normalize_object(value, schema, path, unknown);
  } else if (value.is_array() && schema.contains("items")) {
    for (size_t i = 0; i < value.size(); ++i) {
      normalize(value[i], schema["items"], path + "[" + std::to_string(i) + "]", unknown);
    }
  }
}

void check_metadata(const Json& object, bool strict, std::vector<Problem>& problems) {
  static const std::set<std::string> kKnown{"name",
                                            "generateName",
                                            "namespace",
                                            "selfLink",
                                            "uid",
                                            "resourceVersion",
                                            "generation",
                                            "creationTimestamp",
                                            "deletionTimestamp",
                                            "deletionGracePeriodSeconds",
                                            "labels",
                                            "annotations",
                                            "ownerReferences",
                                            "finalizers",
                                            "managedFields"};
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) {
    problems.push_back({"metadata", "must be an object"});
    return;
  }
  for (const auto& [key, value] : meta->items()) {
    if (strict && !kKnown.contains(key)) problems.push_back({"metadata." + key, "unknown field"});
  }
  if (const auto read = decode_meta(object); !read) {
    problems.push_back({"metadata", read.error().message});
    return;
  }
  // RFC 1123 subdomain, as for every custom resource.
  static const std::string kName =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
  const std::string name = meta->contains("name") && (*meta)["name"].is_string()
                               ? (*meta)["name"].get<std::string>()
                               : std::string();
  if (name.empty() && meta->contains("generateName")) return;
  if (name.empty()) {
    problems.push_back({"metadata.name", "is required"});
  } else if (name.size() > 253 || !matches_pattern(name, kName)) {
    problems.push_back({"metadata.name", "must be a lower-case DNS name"});
  }
}

}  // namespace paddle::api
