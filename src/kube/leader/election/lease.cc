// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/election/lease.h"

#include <limits>

#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

using api::Json;

Error wrong(const char* field) {
  return {Code::kInvalid, std::string("lease: spec.") + field + " has the wrong type"};
}

Result<std::string> text(const Json& spec, const char* field) {
  const auto at = spec.find(field);
  if (at == spec.end() || at->is_null()) return std::string{};
  if (!at->is_string()) return wrong(field);
  return at->get<std::string>();
}

Result<int> number(const Json& spec, const char* field) {
  const auto at = spec.find(field);
  if (at == spec.end() || at->is_null()) return 0;
  if (!at->is_number_integer()) return wrong(field);
  const auto value = at->get<std::int64_t>();
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) return wrong(field);
  return static_cast<int>(value);
}

}  // namespace

Result<LeaseRecord> decode_lease(const Json& object) {
  if (!object.is_object()) return Error{Code::kInvalid, "lease: not an object"};
  const auto spec = object.find("spec");
  if (spec == object.end() || spec->is_null()) return LeaseRecord{};
  if (!spec->is_object()) return Error{Code::kInvalid, "lease: spec is not an object"};
  LeaseRecord record;
  TRY(record.holder, text(*spec, "holderIdentity"));
  TRY(const int duration, number(*spec, "leaseDurationSeconds"));
  TRY(record.acquire_time, text(*spec, "acquireTime"));
  TRY(record.renew_time, text(*spec, "renewTime"));
  TRY(record.transitions, number(*spec, "leaseTransitions"));
  record.duration = std::chrono::seconds{duration};
  return record;
}

void edit_lease(Json& object, const LeaseRecord& record) {
  Json& spec = object["spec"];
  if (!spec.is_object()) spec = Json::object();
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.duration.count();
  spec["acquireTime"] = record.acquire_time;
  spec["renewTime"] = record.renew_time;
  spec["leaseTransitions"] = record.transitions;
}

Json new_lease(const api::ObjectKey& key, const LeaseRecord& record) {
  Json object{{"apiVersion", "coordination.k8s.io/v1"},
              {"kind", "Lease"},
              {"metadata", {{"namespace", key.ns}, {"name", key.name}}}};
  edit_lease(object, record);
  return object;
}

}  // namespace paddle::kube
