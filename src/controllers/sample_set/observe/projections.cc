// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/projections.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "engine/names.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr std::string_view kOurPrefix = "batch.paddlepaddle.org/";

}  // namespace

using api::Json;

Result<MetaSummary> decode_meta_summary(const Json& object) {
  MetaSummary summary;
  TRY(summary.meta, api::decode_meta(object));
  return summary;
}

Result<VolumeSummary> decode_volume(const Json& object) {
  VolumeSummary summary;
  TRY(summary.meta, api::decode_meta(object));
  summary.bound = api::look_text(object, "/status/phase") == api::volume_phase::kBound;
  summary.claim = {api::look_text(object, "/spec/claimRef/namespace"),
                   api::look_text(object, "/spec/claimRef/name")};
  summary.claim_uid = api::look_text(object, "/spec/claimRef/uid");
  return summary;
}

Result<StatefulSetSummary> decode_stateful_set(const Json& object) {
  StatefulSetSummary summary;
  TRY(summary.meta, api::decode_meta(object));
  summary.replicas = static_cast<int>(api::look_integer(object, "/spec/replicas", 1));
  summary.ready = static_cast<int>(api::look_integer(object, "/status/readyReplicas"));
  return summary;
}

Result<NodeSummary> decode_node_summary(const Json& object) {
  NodeSummary summary;
  TRY(summary.meta, api::decode_meta(object));
  std::erase_if(summary.meta.labels,
                [](const auto& each) { return !each.first.starts_with("paddlepaddle.org/"); });
  summary.meta.annotations.clear();
  const Json& conditions = api::look(object, "/status/conditions");
  if (!conditions.is_array()) return summary;
  for (const Json& condition : conditions) {
    if (api::look_text(condition, "type") != "Ready") continue;
    summary.ready = api::look_text(condition, "status") == "True";
    const auto since = parse_rfc3339(api::look_text(condition, "lastTransitionTime"));
    if (!summary.ready && since) summary.unready_since = *since;
  }
  return summary;
}

Result<CsiNodeSummary> decode_csi_node(const Json& object) {
  CsiNodeSummary summary;
  TRY(summary.meta, api::decode_meta(object));
  const Json& drivers = api::look(object, "/spec/drivers");
  if (!drivers.is_array()) return summary;
  for (const Json& driver : drivers) summary.drivers.insert(api::look_text(driver, "name"));
  return summary;
}

Result<JobSummary> decode_job_summary(const Json& object) {
  return JobSummary{
      .key = {api::look_text(object, "/metadata/namespace"),
              api::look_text(object, "/metadata/name")},
      .uid = api::look_text(object, "/metadata/uid"),
      .sample_set = api::look_text(object, "/spec/sampleSetRef/name"),
      .finished = api::paddle_job_phase::is_final(api::look_text(object, "/status/phase"))};
}

std::optional<FailedCreation> failed_creation(const Json& event, const std::string& uid) {
  if (api::look_text(event, "/involvedObject/uid") != uid) return std::nullopt;
  if (api::look_text(event, "/reason") != "FailedCreate") return std::nullopt;
  // "create Pod x-0 in StatefulSet x failed error: pods "x-0" is forbidden: ..."
  constexpr std::string_view kBefore = " failed error: ";
  FailedCreation failed{.message = api::look_text(event, "/message"),
                        .last = api::look_text(event, "/lastTimestamp")};
  if (failed.last.empty()) failed.last = api::look_text(event, "/eventTime");
  const std::size_t at = failed.message.find(kBefore);
  if (at != std::string::npos) failed.message.erase(0, at + kBefore.size());
  return failed;
}

std::string version_of(const api::Meta& meta) { return meta.uid + "/" + meta.resource_version; }

Result<SecretContents> decode_secret(const Json& object) {
  TRY(api::Meta meta, api::decode_meta(object));
  std::erase_if(meta.annotations,
                [](const auto& each) { return !each.first.starts_with(kOurPrefix); });
  const std::string version = version_of(meta);
  return SecretContents{
      .version = version, .meta = std::move(meta), .values = runtime::secret_values(object)};
}

}  // namespace paddle::controllers::sample_set
