// SPDX-License-Identifier: Apache-2.0
#include "kube/rules/object_rules.h"

#include <algorithm>
#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include "api/phases.h"

namespace paddle::kube {
namespace {

using Pointer = Json::json_pointer;

const Pointer kSpecReplicas{"/spec/worker/replicas"};
const Pointer kStatusReplicas{"/status/replicas"};
constexpr size_t kMaxNameLength = 253;

// metadata that only the server writes; an update cannot change it.
constexpr std::array<const char*, 8> kSystemFields{"name",
                                                   "namespace",
                                                   "uid",
                                                   "resourceVersion",
                                                   "generation",
                                                   "creationTimestamp",
                                                   "deletionTimestamp",
                                                   "deletionGracePeriodSeconds"};

Error invalid(std::string message) { return Error{Code::kInvalid, std::move(message)}; }

bool is_dns_name(const std::string& name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kMaxNameLength && plain(name.front()) &&
         plain(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-' || c == '.'; });
}

Result<> check_shape(const Resource& resource, const Json& object) {
  if (!object.is_object()) return invalid("an object is expected");
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return invalid("metadata is missing");
  const auto says = [&](const char* field, const std::string& wanted) {
    const auto found = object.find(field);
    return found == object.end() || *found == wanted;
  };
  if (!says("apiVersion", resource.api_version()) || !says("kind", resource.kind)) {
    return invalid("the object is not a " + resource.api_version() + " " + resource.kind);
  }
  if (auto decoded = api::decode_meta(object); !decoded) return std::move(decoded).error();
  return Done{};
}

// Everything but metadata and status: what a generation counts.
Json intent_of(Json object) {
  object.erase("metadata");
  object.erase("status");
  return object;
}

void take(Json& to, const Json& from, const char* field) {
  if (const auto found = from.find(field); found != from.end()) {
    to[field] = *found;
  } else {
    to.erase(field);
  }
}

Result<> check_preconditions(const Json& old, const Json& incoming) {
  for (const char* field : {"uid", "resourceVersion"}) {
    const std::string wanted = meta_text(incoming, field);
    if (wanted.empty() || wanted == meta_text(old, field)) continue;
    return Error{Code::kConflict, "Operation cannot be fulfilled on \"" + meta_text(old, "name") +
                                      "\": metadata." + field +
                                      " does not match: the object has been modified; please "
                                      "apply your changes to the latest version and try again"};
  }
  return Done{};
}

Result<> check_finalizers(const Json& old, const Json& updated) {
  if (meta_text(old, "deletionTimestamp").empty()) return Done{};
  const auto before = finalizers_of(old);
  for (const auto& finalizer : finalizers_of(updated)) {
    if (std::ranges::find(before, finalizer) == before.end()) {
      return invalid(
          "metadata.finalizers: no new finalizers can be added if the object is being "
          "deleted, found new finalizer " +
          finalizer);
    }
  }
  return Done{};
}

// Empty maps and lists in metadata are not stored, as at the server.
void tidy_metadata(Json& meta) {
  for (const char* field : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    if (meta.contains(field) && (meta[field].is_null() || meta[field].empty())) meta.erase(field);
  }
}

}  // namespace

KindRules rules_of(const Resource& resource) {
  static const std::set<std::string> kWithStatus{"pods",
                                                 "services",
                                                 "nodes",
                                                 "namespaces",
                                                 "persistentvolumes",
                                                 "persistentvolumeclaims",
                                                 "statefulsets",
                                                 "paddlejobs",
                                                 "samplesets",
                                                 "samplejobs",
                                                 "customresourcedefinitions"};
  const bool ours = resource.group == resources::kPaddleJobs.group;
  return {.status = kWithStatus.contains(resource.plural),
          .scale = ours && resource.plural == "paddlejobs",
          .needs_version = ours || resource.plural == "leases",
          .create_on_update = resource.plural == "leases"};
}

std::string meta_text(const Json& object, const char* field) {
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return {};
  const auto found = meta->find(field);
  return found != meta->end() && found->is_string() ? found->get<std::string>() : std::string{};
}

api::ObjectKey key_of(const Json& object) {
  return {.ns = meta_text(object, "namespace"), .name = meta_text(object, "name")};
}

std::vector<std::string> finalizers_of(const Json& object) {
  static const Pointer kPath{"/metadata/finalizers"};
  return object.contains(kPath) ? object.at(kPath).get<std::vector<std::string>>()
                                : std::vector<std::string>{};
}

std::vector<std::string> owner_uids(const Json& object) {
  static const Pointer kPath{"/metadata/ownerReferences"};
  std::vector<std::string> uids;
  if (!object.contains(kPath)) return uids;
  for (const Json& owner : object.at(kPath)) uids.push_back(owner.value("uid", ""));
  return uids;
}

Result<Json> prepare_create(const Resource& resource, Json object,
                            const ServerFields& server_fields) {
  CHECK_DONE(check_shape(resource, object));
  Json& meta = object["metadata"];
  if (!meta_text(object, "resourceVersion").empty()) {
    return invalid("resourceVersion should not be set on objects to be created");
  }
  if (meta_text(object, "name").empty() && !meta_text(object, "generateName").empty()) {
    meta["name"] = meta_text(object, "generateName") + server_fields.name_suffix;
  }
  if (meta_text(object, "name").empty()) {
    return invalid("metadata.name: Required value: name or generateName is required");
  }
  if (!is_dns_name(meta_text(object, "name"))) {
    return invalid("metadata.name: Invalid value: \"" + meta_text(object, "name") +
                   "\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                   "characters, '-' or '.', must start and end with an alphanumeric character, and "
                   "have at most " +
                   std::to_string(kMaxNameLength) + " characters");
  }
  if (resource.namespaced && meta_text(object, "namespace").empty()) {
    return invalid("metadata.namespace: Required value");
  }
  if (!resource.namespaced) meta.erase("namespace");
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
    meta.erase(field);
  }
  tidy_metadata(meta);
  meta["uid"] = server_fields.uid;
  meta["creationTimestamp"] = rfc3339(server_fields.now);

  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  if (rules_of(resource).status) {
    meta["generation"] = 1;
    object.erase("status");
    if (resource == resources::kPods) object["status"] = {{"phase", api::pod_phase::kPending}};
  }
  return object;
}

Result<Json> prepare_update(const Resource& resource, const Json& old, Json incoming,
                            const std::string& sub) {
  CHECK_DONE(check_shape(resource, incoming));
  CHECK_DONE(check_preconditions(old, incoming));
  Json updated;
  if (sub == "status") {
    updated = old;
    take(updated, incoming, "status");
  } else {
    updated = std::move(incoming);
    for (const char* field : kSystemFields) take(updated["metadata"], old["metadata"], field);
    if (rules_of(resource).status) take(updated, old, "status");
    tidy_metadata(updated["metadata"]);
  }
  updated["apiVersion"] = resource.api_version();
  updated["kind"] = resource.kind;
  CHECK_DONE(check_finalizers(old, updated));
  if (rules_of(resource).status && intent_of(updated) != intent_of(old)) {
    updated["metadata"]["generation"] = old["metadata"].value("generation", 0) + 1;
  }
  return updated;
}

bool is_removable(const Json& object) {
  return !meta_text(object, "deletionTimestamp").empty() && finalizers_of(object).empty() &&
         object["metadata"].value("deletionGracePeriodSeconds", 0) == 0;
}

Json scale_of(const Json& object) {
  const auto count = [&](const Pointer& at) {
    return object.contains(at) && object.at(at).is_number_integer() ? object.at(at).get<int>() : 0;
  };
  Json meta;
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    take(meta, object["metadata"], field);
  }
  return {{"apiVersion", "autoscaling/v1"},
          {"kind", "Scale"},
          {"metadata", meta},
          {"spec", {{"replicas", count(kSpecReplicas)}}},
          {"status", {{"replicas", count(kStatusReplicas)}}}};
}

Result<Json> with_scale(Json object, const Json& scale) {
  static const Pointer kWanted{"/spec/replicas"};
  if (!scale.is_object() || !scale.contains(kWanted) || !scale.at(kWanted).is_number_integer() ||
      scale.at(kWanted).get<std::int64_t>() < 0) {
    return invalid("spec.replicas: must be a number that is not negative");
  }
  if (!object.contains(Pointer{"/spec/worker"}) || !object["spec"]["worker"].is_object()) {
    return invalid("spec.worker is missing: nothing to scale");
  }
  CHECK_DONE(check_preconditions(object, scale));
  object["spec"]["worker"]["replicas"] = scale.at(kWanted);
  return object;
}

}  // namespace paddle::kube
