// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/representation.h"

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"

namespace paddle::local {
namespace {

using api::Json;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view cut(std::string_view& rest, char separator) {
  const auto at = rest.find(separator);
  const std::string_view part = trim(rest.substr(0, at));
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return part;
}

std::optional<Representation::Shape> shape_of(std::string_view range) {
  const std::string_view type = cut(range, ';');
  if (type != "application/json" && type != "*/*" && type != "application/*") return std::nullopt;
  std::string_view as, group, version;
  while (!range.empty()) {
    const std::string_view parameter = cut(range, ';');
    if (parameter.starts_with("as=")) as = parameter.substr(3);
    if (parameter.starts_with("g=")) group = parameter.substr(2);
    if (parameter.starts_with("v=")) version = parameter.substr(2);
  }
  if (as.empty()) return Representation::Shape::kWhole;
  if (group != "meta.k8s.io" || version != "v1") return std::nullopt;
  if (as == "Table") return Representation::Shape::kTable;
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
    return Representation::Shape::kMetadata;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Representation> parse_accept(std::string_view accept,
                                           std::string_view include_object) {
  Representation representation;
  if (include_object == "Object") representation.rows = RowObject::kWhole;
  if (include_object == "None") representation.rows = RowObject::kNone;
  if (trim(accept).empty()) return representation;
  while (!accept.empty()) {
    if (const auto shape = shape_of(cut(accept, ','))) {
      representation.shape = *shape;
      return representation;
    }
  }
  return std::nullopt;
}

Json represent(const Kind& kind, Json object, const Representation& representation, WallTime now) {
  if (representation.shape == Representation::Shape::kWhole) return object;
  if (representation.shape == Representation::Shape::kMetadata) return partial(object);
  Json table = empty_table(kind, kube::meta_text(object, "resourceVersion"));
  table["rows"].push_back(table_row(kind, object, representation.rows, now));
  return table;
}

std::string represent_text(const Kind& kind, std::string_view body,
                           const Representation& representation, WallTime now) {
  if (representation.shape == Representation::Shape::kWhole) return std::string(body);
  auto object = api::parse_json(body);
  if (!object) return std::string(body);
  return api::dump_json(represent(kind, *std::move(object), representation, now));
}

}  // namespace paddle::local
