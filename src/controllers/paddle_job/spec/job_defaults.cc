// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/job_defaults.h"

#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/json/yaml_reader.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

constexpr const char* kEveryContainer = "*";
// The field that identifies an element of a list; the first that both elements have.
constexpr std::array kListKeys{"name", "mountPath", "containerPort"};

bool same_element(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return a == b;
  for (const char* key : kListKeys) {
    if (a.contains(key) && b.contains(key)) return a[key] == b[key];
  }
  return a == b;
}

Json merged_lists(const Json& defaults, const Json& over) {
  Json own = over;
  Json merged = Json::array();
  for (const Json& each : defaults) {
    if (api::look_text(each, "name") == kEveryContainer) {
      Json rest = each;
      rest.erase("name");
      for (Json& one : own) one = merged_under(rest, one);
      continue;
    }
    const auto found =
        std::ranges::find_if(own, [&](const Json& one) { return same_element(each, one); });
    if (found == own.end()) {
      merged.push_back(each);
    } else {
      *found = merged_under(each, *found);
    }
  }
  for (Json& one : own) merged.push_back(std::move(one));
  return merged;
}

void merge_into(api::Opaque& pod_template, const Json& defaults) {
  if (!pod_template) return;  // an error of spec/validation.h
  pod_template = api::Opaque(merged_under(defaults, *pod_template));
}

}  // namespace

Result<Json> parse_defaults(const std::map<std::string, std::string>& data) {
  const auto found = data.find(kDefaultsKey);
  if (found == data.end()) return Json();
  TRY(Json parsed, api::parse_yaml(found->second));
  if (parsed.is_null()) return parsed;
  if (!parsed.is_object()) return Error{Code::kInvalid, "it is not an object"};
  for (const auto& [key, value] : parsed.items()) {
    if (key != "metadata" && key != "spec") {
      return Error{Code::kInvalid, "it has the key " + key + "; metadata and spec are allowed"};
    }
    if (!value.is_object()) return Error{Code::kInvalid, key + " is not an object"};
  }
  return parsed;
}

Json merged_under(const Json& defaults, const Json& over) {
  if (over.is_null()) return defaults;
  if (defaults.is_array() && over.is_array()) return merged_lists(defaults, over);
  if (!defaults.is_object() || !over.is_object()) return over;
  Json merged = defaults;
  for (const auto& [key, value] : over.items()) {
    merged[key] = defaults.contains(key) ? merged_under(defaults[key], value) : value;
  }
  return merged;
}

api::PaddleJob with_defaults(api::PaddleJob job, const Json& defaults) {
  if (!defaults.is_object()) return job;
  for (auto* role : {&job.spec.ps, &job.spec.worker, &job.spec.heter}) {
    if (*role) merge_into((*role)->pod_template, defaults);
  }
  for (api::Task& task : job.spec.tasks) merge_into(task.pod_template, defaults);
  return job;
}

}  // namespace paddle::controllers::paddle_job
