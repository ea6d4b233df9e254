// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/pod_update.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::local {
namespace {

using api::Json;

// The sentence of a real API server.
constexpr const char* kFixed =
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to "
    "1 if it was previously negative)";

Error invalid(const std::string& message) { return Error{Code::kInvalid, message}; }

// Gives a field the value that it had, so that it does not count as a change.
void take_back(Json& spec, const Json& old, const char* field) {
  if (const auto had = old.find(field); had != old.end()) {
    spec[field] = *had;
  } else {
    spec.erase(field);
  }
}

Result<> check_images(Json& spec, const Json& old, const char* field) {
  const Json& had = api::look(old, field);
  if (!had.is_array() || !spec.contains(field) || !spec[field].is_array()) return Done{};
  Json& list = spec[field];
  if (list.size() != had.size()) return Done{};  // which is a change
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object() || !had[i].is_object()) continue;
    if (list[i].contains("image") && api::look_text(list[i], "image").empty()) {
      return invalid("spec." + std::string(field) + "[" + std::to_string(i) +
                     "].image: Required value");
    }
    if (list[i].contains("image")) take_back(list[i], had[i], "image");
  }
  return Done{};
}

std::optional<std::int64_t> seconds_in(const Json& spec, const char* field) {
  const Json& found = api::look(spec, field);
  if (!found.is_number_integer()) return std::nullopt;
  return found.get<std::int64_t>();
}

Result<> check_deadline(Json& spec, const Json& old) {
  constexpr const char* kField = "activeDeadlineSeconds";
  const auto had = seconds_in(old, kField);
  const auto now = seconds_in(spec, kField);
  const std::string at = "spec." + std::string(kField) + ": Invalid value: ";
  if (now && *now < 1) {
    return invalid(at + std::to_string(*now) + ": must be between 1 and 2147483647, inclusive");
  }
  if (had && !now)
    return invalid(at + "null: must not update from a positive integer to nil value");
  if (had && *now > *had) {
    return invalid(at + std::to_string(*now) + ": must be less than or equal to previous value");
  }
  if (now) take_back(spec, old, kField);
  return Done{};
}

Json without_seconds(Json toleration) {
  if (toleration.is_object()) toleration.erase("tolerationSeconds");
  return toleration;
}

Result<> check_tolerations(Json& spec, const Json& old) {
  const Json& now = api::look(spec, "tolerations");
  if (!now.is_array() && !now.is_null())
    return invalid("spec.tolerations: Invalid value: a list is expected");
  for (const Json& had : api::look_list(old, "tolerations")) {
    const bool kept = std::ranges::any_of(
        now, [&](const Json& each) { return without_seconds(each) == without_seconds(had); });
    if (!kept) {
      return invalid(
          "spec.tolerations: Forbidden: an existing toleration cannot be modified except its "
          "tolerationSeconds");
    }
  }
  take_back(spec, old, "tolerations");
  return Done{};
}

Result<> check_gates(Json& spec, const Json& old) {
  const Json& had = api::look_list(old, "schedulingGates");
  for (const Json& gate : api::look_list(spec, "schedulingGates")) {
    if (std::ranges::find(had, gate) == had.end()) {
      return invalid(
          "spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling "
          "gate '" +
          api::look_text(gate, "name") + "'");
    }
  }
  take_back(spec, old, "schedulingGates");
  if (had.empty()) return Done{};
  for (const char* field : {"nodeSelector", "affinity"}) take_back(spec, old, field);
  return Done{};
}

}  // namespace

Result<> check_pod_update(const Json& before, const Json& after) {
  const Json& old = api::look(before, "spec");
  const Json& wanted = api::look(after, "spec");
  if (old == wanted) return Done{};
  if (!old.is_object() || !wanted.is_object()) return invalid(kFixed);
  Json spec = wanted;
  for (const char* field : {"containers", "initContainers"}) {
    CHECK_DONE(check_images(spec, old, field));
  }
  CHECK_DONE(check_deadline(spec, old));
  CHECK_DONE(check_tolerations(spec, old));
  CHECK_DONE(check_gates(spec, old));
  constexpr const char* kGrace = "terminationGracePeriodSeconds";
  if (seconds_in(old, kGrace).value_or(0) < 0 && seconds_in(spec, kGrace) == 1) {
    take_back(spec, old, kGrace);
  }
  if (api::look_text(old, "nodeName").empty()) take_back(spec, old, "nodeName");
  return spec == old ? Result<>(Done{}) : Result<>(invalid(kFixed));
}

}  // namespace paddle::local
