// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/garbage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kube/fake/object_rules.h"

namespace paddle::kube {
namespace {

constexpr const char* kForeground = "foregroundDeletion";
constexpr int kPodGraceSeconds = 30;

std::vector<std::string> owner_uids(const Json& object) {
  static const Json::json_pointer path{"/metadata/ownerReferences"};
  std::vector<std::string> uids;
  if (!object.contains(path)) return uids;
  for (const Json& owner : object.at(path)) uids.push_back(owner.value("uid", ""));
  return uids;
}

// Only a pod that a kubelet may be running is given time to end.
int grace_of(const Resource& resource, const Json& object, const DeleteOptions& options) {
  if (resource != resources::kPods) return 0;
  const auto text = [&](const char* outer, const char* inner) {
    const auto part = object.find(outer);
    return part != object.end() && part->is_object() ? part->value(inner, "") : std::string{};
  };
  const std::string phase = text("status", "phase");
  if (text("spec", "nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
  return options.grace_seconds.value_or(kPodGraceSeconds);
}

void drop_finalizer(Json& object, const std::string& finalizer) {
  auto left = finalizers_of(object);
  std::erase(left, finalizer);
  if (left.empty()) {
    object["metadata"].erase("finalizers");
  } else {
    object["metadata"]["finalizers"] = left;
  }
}

}  // namespace

Result<> Garbage::remove(const Resource& resource, const ObjectKey& key,
                         const DeleteOptions& options, WallTime now) {
  const Record* record = storage_.find(resource, key);
  if (!record) {
    return Error{Code::kNotFound, resource.plural + " \"" + key.name + "\" not found"};
  }
  const StoredObject old = record->object;
  const auto differs = [&](const char* field, const std::string& wanted) {
    return !wanted.empty() && wanted != meta_text(*old, field);
  };
  if (differs("uid", options.uid) || differs("resourceVersion", options.resource_version)) {
    return Error{Code::kConflict, "precondition failed: " + resource.plural + " \"" + key.name +
                                      "\" has another uid or resourceVersion"};
  }
  const std::string uid = meta_text(*old, "uid");
  if (options.propagation == Propagation::kOrphan) orphan_dependents(uid);

  Json object = *old;
  Json& meta = object["metadata"];
  const bool waits_for_dependents =
      collects_ && options.propagation == Propagation::kForeground && !dependents_of(uid).empty();
  if (waits_for_dependents) {
    auto finalizers = finalizers_of(object);
    if (std::ranges::find(finalizers, kForeground) == finalizers.end()) {
      meta["finalizers"].push_back(kForeground);
    }
  }
  const int grace = grace_of(resource, object, options);
  if (grace == 0 && finalizers_of(object).empty()) {
    erase(resource, key, now);
    return Done{};
  }
  if (!meta.contains("deletionTimestamp")) {
    meta["deletionTimestamp"] = rfc3339(now + std::chrono::seconds(grace));
    meta["deletionGracePeriodSeconds"] = grace;
    if (meta.contains("generation")) meta["generation"] = meta["generation"].get<int>() + 1;
  } else if (grace < meta.value("deletionGracePeriodSeconds", 0)) {
    meta["deletionGracePeriodSeconds"] = grace;
  }
  if (object != *old) storage_.put(resource, std::move(object), record->owners);
  if (waits_for_dependents) {
    for (const auto& found : dependents_of(uid)) {
      const Record* dependent = storage_.find(found.resource, found.key);
      if (!dependent || has_live_owner(*dependent->object, uid)) continue;
      CHECK_DONE(remove(found.resource, found.key, {}, now));
    }
    finish_foreground(now);
  }
  return Done{};
}

StoredObject Garbage::put_or_release(const Resource& resource, Json object, FieldOwners owners,
                                     WallTime now) {
  if (!is_ready_to_go(object)) return storage_.put(resource, std::move(object), std::move(owners));
  // Like the server: one deletion, not a change and then a deletion.
  auto last = std::make_shared<const Json>(std::move(object));
  erase(resource, key_of(*last), now);
  return last;
}

void Garbage::erase(const Resource& resource, const ObjectKey& key, WallTime now) {
  const Record* record = storage_.find(resource, key);
  if (!record) return;
  const std::string uid = meta_text(*record->object, "uid");
  storage_.erase(resource, key);
  if (!collects_) return;
  for (const auto& found : dependents_of(uid)) {
    const Record* dependent = storage_.find(found.resource, found.key);
    if (!dependent || has_live_owner(*dependent->object, uid)) continue;
    (void)static_cast<bool>(remove(found.resource, found.key, {}, now));
  }
  finish_foreground(now);
}

std::vector<Garbage::Found> Garbage::dependents_of(const std::string& uid) const {
  std::vector<Found> found;
  for (const auto& [name, collection] : storage_.collections()) {
    for (const auto& [key, record] : collection.records) {
      const auto owners = owner_uids(*record.object);
      if (std::ranges::find(owners, uid) != owners.end()) {
        found.push_back({collection.resource, key});
      }
    }
  }
  return found;
}

bool Garbage::exists(const std::string& uid) const {
  for (const auto& [name, collection] : storage_.collections()) {
    for (const auto& [key, record] : collection.records) {
      if (meta_text(*record.object, "uid") == uid) return true;
    }
  }
  return false;
}

bool Garbage::has_live_owner(const Json& object, const std::string& besides) const {
  return std::ranges::any_of(owner_uids(object),
                             [&](const std::string& uid) { return uid != besides && exists(uid); });
}

void Garbage::orphan_dependents(const std::string& uid) {
  if (!collects_) return;
  for (const auto& found : dependents_of(uid)) {
    const Record* record = storage_.find(found.resource, found.key);
    Json object = *record->object;
    Json left = Json::array();
    for (const Json& owner : object["metadata"]["ownerReferences"]) {
      if (owner.value("uid", "") != uid) left.push_back(owner);
    }
    object["metadata"]["ownerReferences"] = left;
    if (left.empty()) object["metadata"].erase("ownerReferences");
    storage_.put(found.resource, std::move(object), record->owners);
  }
}

// Owners that wait in the foreground go once their last dependent is gone.
void Garbage::finish_foreground(WallTime now) {
  std::vector<Found> ready;
  for (const auto& [name, collection] : storage_.collections()) {
    for (const auto& [key, record] : collection.records) {
      const auto finalizers = finalizers_of(*record.object);
      if (std::ranges::find(finalizers, kForeground) == finalizers.end()) continue;
      if (dependents_of(meta_text(*record.object, "uid")).empty()) {
        ready.push_back({collection.resource, key});
      }
    }
  }
  for (const auto& found : ready) {
    const Record* record = storage_.find(found.resource, found.key);
    if (!record) continue;
    Json object = *record->object;
    drop_finalizer(object, kForeground);
    put_or_release(found.resource, std::move(object), record->owners, now);
  }
}

void Garbage::collect_dangling(WallTime now) {
  std::vector<Found> dangling;
  for (const auto& [name, collection] : storage_.collections()) {
    for (const auto& [key, record] : collection.records) {
      if (!owner_uids(*record.object).empty() && !has_live_owner(*record.object, "")) {
        dangling.push_back({collection.resource, key});
      }
    }
  }
  for (const auto& found : dangling) {
    (void)static_cast<bool>(remove(found.resource, found.key, {}, now));
  }
}

}  // namespace paddle::kube
