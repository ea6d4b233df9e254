// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/projections.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "engine/names.h"
#include "runtime/identity.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr std::string_view kOurs = "batch.paddlepaddle.org/";

}  // namespace

using api::Json;

Result<MetaSummary> decode_meta_summary(const Json& object) {
  MetaSummary seen;
  TRY(seen.meta, api::decode_meta(object));
  return seen;
}

Result<MetaSummary> decode_secret_meta(const Json& object) {
  TRY(MetaSummary seen, decode_meta_summary(object));
  std::erase_if(seen.meta.annotations,
                [](const auto& each) { return !each.first.starts_with(kOurs); });
  return seen;
}

Result<VolumeSummary> decode_volume(const Json& object) {
  VolumeSummary seen;
  TRY(seen.meta, api::decode_meta(object));
  seen.bound = api::look_text(object, "/status/phase") == "Bound";
  seen.claim = {api::look_text(object, "/spec/claimRef/namespace"),
                api::look_text(object, "/spec/claimRef/name")};
  seen.claim_uid = api::look_text(object, "/spec/claimRef/uid");
  return seen;
}

Result<StatefulSetSummary> decode_stateful_set(const Json& object) {
  StatefulSetSummary seen;
  TRY(seen.meta, api::decode_meta(object));
  seen.replicas = static_cast<int>(api::look_integer(object, "/spec/replicas", 1));
  seen.ready = static_cast<int>(api::look_integer(object, "/status/readyReplicas"));
  return seen;
}

Result<NodeSummary> decode_node_summary(const Json& object) {
  NodeSummary seen;
  TRY(seen.meta, api::decode_meta(object));
  std::erase_if(seen.meta.labels,
                [](const auto& each) { return !each.first.starts_with("paddlepaddle.org/"); });
  seen.meta.annotations.clear();
  const Json& conditions = api::look(object, "/status/conditions");
  if (!conditions.is_array()) return seen;
  for (const Json& condition : conditions) {
    if (api::look_text(condition, "type") != "Ready") continue;
    seen.ready = api::look_text(condition, "status") == "True";
    const auto since = parse_rfc3339(api::look_text(condition, "lastTransitionTime"));
    if (!seen.ready && since) seen.unready_since = *since;
  }
  return seen;
}

Result<CsiNodeSummary> decode_csi_node(const Json& object) {
  CsiNodeSummary seen;
  TRY(seen.meta, api::decode_meta(object));
  const Json& drivers = api::look(object, "/spec/drivers");
  if (!drivers.is_array()) return seen;
  for (const Json& driver : drivers) seen.drivers.insert(api::look_text(driver, "name"));
  return seen;
}

std::string version_of(const api::Meta& meta) { return meta.uid + "/" + meta.resource_version; }

Result<SecretContents> decode_secret(const Json& object) {
  TRY(const api::Meta meta, api::decode_meta(object));
  return SecretContents{.version = version_of(meta), .values = runtime::secret_values(object)};
}

}  // namespace paddle::controllers::sample_set
