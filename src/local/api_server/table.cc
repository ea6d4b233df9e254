// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/table.h"

#include <map>

#include <nlohmann/json.hpp>

#include "local/api_server/table_cells.h"

namespace paddle::local {
namespace {

using api::Json;
using Columns = std::vector<TableColumn>;

TableColumn name_column() { return {.name = "Name", .cell = text_at({"metadata", "name"})}; }
TableColumn age_column() {
  return {.name = "Age", .cell = age_at({"metadata", "creationTimestamp"})};
}

// A path of the form ".status.phase", or ".status.conditions[?(@.type=="Ready")].reason", whose
// filter becomes the step "?type=Ready"; nothing else is used by our kinds.
Path path_of(std::string_view text) {
  constexpr std::string_view kFilter = "[?(@.", kEquals = "==\"", kEnd = "\")]";
  Path path;
  while (!text.empty()) {
    if (text.starts_with(kFilter)) {
      text.remove_prefix(kFilter.size());
      const auto equals = text.find(kEquals);
      const auto end = text.find(kEnd);
      if (equals == std::string_view::npos || end == std::string_view::npos) return path;
      const auto value = text.substr(equals + kEquals.size(), end - equals - kEquals.size());
      path.push_back("?" + std::string(text.substr(0, equals)) + "=" + std::string(value));
      text.remove_prefix(end + kEnd.size());
      continue;
    }
    if (text.front() == '.') text.remove_prefix(1);
    const auto next = text.find_first_of(".[");
    path.emplace_back(text.substr(0, next));
    text = next == std::string_view::npos ? std::string_view{} : text.substr(next);
  }
  return path;
}

Columns ours(api::Kind kind) {
  Columns made{name_column()};
  for (const auto& column : api::describe(kind).columns) {
    const Path path = path_of(column.path);
    made.push_back({.name = column.name,
                    .type = column.type,
                    .priority = column.priority,
                    .cell = column.type == "date" ? age_at(path) : value_at(path)});
  }
  return made;
}

Columns pods() {
  return {name_column(),
          {.name = "Ready", .cell = pod_ready},
          {.name = "Status", .cell = pod_status},
          {.name = "Restarts", .type = "integer", .cell = pod_restarts},
          age_column(),
          {.name = "IP", .priority = 1, .cell = text_at({"status", "podIP"}, "<none>")},
          {.name = "Node", .priority = 1, .cell = text_at({"spec", "nodeName"}, "<none>")}};
}

Columns services() {
  return {name_column(),
          {.name = "Type", .cell = text_at({"spec", "type"})},
          {.name = "Cluster-IP", .cell = text_at({"spec", "clusterIP"}, "<none>")},
          {.name = "External-IP", .cell = text_at({"spec", "externalName"}, "<none>")},
          {.name = "Port(s)", .cell = service_ports},
          age_column(),
          {.name = "Selector", .priority = 1, .cell = pairs_at({"spec", "selector"})}};
}

Columns events() {
  return {{.name = "Last Seen", .cell = event_last_seen},
          {.name = "Type", .cell = text_at({"type"})},
          {.name = "Reason", .cell = text_at({"reason"})},
          {.name = "Object", .cell = event_object},
          {.name = "Message", .cell = text_at({"message"})},
          {.name = "Name", .priority = 1, .cell = text_at({"metadata", "name"})}};
}

Columns volumes() {
  return {name_column(),
          {.name = "Capacity", .cell = text_at({"spec", "capacity", "storage"})},
          {.name = "Access Modes", .cell = access_modes},
          {.name = "Reclaim Policy", .cell = text_at({"spec", "persistentVolumeReclaimPolicy"})},
          {.name = "Status", .cell = text_at({"status", "phase"})},
          {.name = "Claim", .cell = volume_claim},
          {.name = "StorageClass", .cell = text_at({"spec", "storageClassName"})},
          age_column()};
}

Columns claims() {
  return {name_column(),
          {.name = "Status", .cell = text_at({"status", "phase"})},
          {.name = "Volume", .cell = text_at({"spec", "volumeName"})},
          {.name = "Capacity", .cell = text_at({"status", "capacity", "storage"})},
          {.name = "Access Modes", .cell = access_modes},
          {.name = "StorageClass", .cell = text_at({"spec", "storageClassName"})},
          age_column()};
}

Columns make_columns(const Kind& kind) {
  if (kind.ours) return ours(*kind.ours);
  const std::string& plural = kind.resource.plural;
  if (plural == "pods") return pods();
  if (plural == "services") return services();
  if (plural == "events") return events();
  if (plural == "persistentvolumes") return volumes();
  if (plural == "persistentvolumeclaims") return claims();
  Columns made{name_column()};
  if (plural == "configmaps" || plural == "secrets") {
    if (plural == "secrets") made.push_back({.name = "Type", .cell = text_at({"type"})});
    made.push_back({.name = "Data", .type = "integer", .cell = data_count});
  } else if (plural == "namespaces") {
    made.push_back({.name = "Status", .cell = text_at({"status", "phase"})});
  } else if (plural == "nodes") {
    made.push_back({.name = "Status", .cell = node_status});
    made.push_back({.name = "Version",
                    .cell = text_at({"status", "nodeInfo", "kubeletVersion"}, "<unknown>")});
  } else if (plural == "leases") {
    made.push_back({.name = "Holder", .cell = text_at({"spec", "holderIdentity"})});
  } else if (plural == "statefulsets") {
    made.push_back({.name = "Ready", .cell = replicas_ready});
  }
  made.push_back(age_column());
  return made;
}

}  // namespace

const std::vector<TableColumn>& columns_of(const Kind& kind) {
  static const std::map<kube::Resource, Columns> kAll = [] {
    std::map<kube::Resource, Columns> made;
    for (const Kind& each : all_kinds()) made.emplace(each.resource, make_columns(each));
    return made;
  }();
  return kAll.at(kind.resource);
}

Json partial(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", object.value("metadata", Json::object())}};
}

Json table_row(const Kind& kind, const Json& object, RowObject carries, WallTime now) {
  Json cells = Json::array();
  for (const auto& column : columns_of(kind)) cells.push_back(column.cell(object, now));
  Json row{{"cells", std::move(cells)}};
  if (carries == RowObject::kMetadata) row["object"] = partial(object);
  if (carries == RowObject::kWhole) row["object"] = object;
  return row;
}

Json empty_table(const Kind& kind, const std::string& version) {
  Json columns = Json::array();
  for (const auto& column : columns_of(kind)) {
    columns.push_back({{"name", column.name},
                       {"type", column.type},
                       {"format", column.name == "Name" ? "name" : ""},
                       {"description", ""},
                       {"priority", column.priority}});
  }
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", {{"resourceVersion", version}}},
          {"columnDefinitions", std::move(columns)},
          {"rows", Json::array()}};
}

}  // namespace paddle::local
