// SPDX-License-Identifier: Apache-2.0
#include "cli/results.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::cli {

using api::Json;

Json one_document(std::vector<KindResult> results) {
  if (results.size() == 1) return std::move(results[0].content);
  Json items = Json::array();
  for (KindResult& each : results) {
    const auto add = [&](Json object) {
      const kube::Resource& resource = each.resource;
      const std::string version =
          resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
      if (!object.contains("apiVersion")) object["apiVersion"] = version;
      if (!object.contains("kind")) object["kind"] = resource.kind;
      items.push_back(std::move(object));
    };
    if (each.content.contains("items")) {
      for (const Json& item : api::look_list(each.content, "items")) add(item);
    } else {
      add(std::move(each.content));
    }
  }
  return {{"apiVersion", "v1"},
          {"kind", "List"},
          {"metadata", {{"resourceVersion", ""}}},
          {"items", std::move(items)}};
}

Json merged_table(std::vector<Json> tables) {
  if (tables.empty()) return Json::object();
  Json merged = std::move(tables[0]);
  Json& rows = api::list_in(merged, "rows");
  for (std::size_t i = 1; i < tables.size(); ++i) {
    for (const Json& row : api::look_list(tables[i], "rows")) rows.push_back(row);
  }
  return merged;
}

}  // namespace paddle::cli
