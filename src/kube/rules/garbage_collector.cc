// SPDX-License-Identifier: Apache-2.0
#include "kube/rules/garbage_collector.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "kube/rules/object_rules.h"

namespace paddle::kube {
namespace {

constexpr const char* kForeground = "foregroundDeletion";
constexpr int kPodGraceSeconds = 30;

// Only a pod that a kubelet may be running has a grace period.
int grace_of(const Resource& resource, const Json& object, const DeleteOptions& options) {
  if (resource != resources::kPods) return 0;
  const auto text = [&](const char* outer, const char* inner) {
    const auto part = object.find(outer);
    return part != object.end() && part->is_object() ? part->value(inner, "") : std::string{};
  };
  const std::string phase = text("status", "phase");
  if (text("spec", "nodeName").empty() || api::pod_phase::is_final(phase)) return 0;
  const auto own = object.at("spec").find("terminationGracePeriodSeconds");
  const bool says = own != object.at("spec").end() && own->is_number_integer();
  const int wanted = options.grace_seconds.value_or(says ? own->get<int>() : kPodGraceSeconds);
  return wanted < 0 ? 1 : wanted;
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

// Owners that the stored object still names and `updated` no longer does.
std::vector<std::string> owners_lost(const ObjectStore& store, const Resource& resource,
                                     const Json& updated) {
  const auto record = store.read(resource, key_of(updated));
  if (!record) return {};
  auto before = owner_uids(*record->object);
  const auto after = owner_uids(updated);
  std::erase_if(
      before, [&](const std::string& uid) { return std::ranges::find(after, uid) != after.end(); });
  return before;
}

}  // namespace

Result<> GarbageCollector::remove(const Resource& resource, const ObjectKey& key,
                                  const DeleteOptions& options, WallTime now) {
  const auto record = store_.read(resource, key);
  if (!record) {
    return Error{Code::kNotFound, resource.plural + " \"" + key.name + "\" not found"};
  }
  const Json& old = *record->object;
  const auto differs = [&](const char* field, const std::string& wanted) {
    return !wanted.empty() && wanted != meta_text(old, field);
  };
  if (differs("uid", options.uid) || differs("resourceVersion", options.resource_version)) {
    return Error{Code::kConflict, "precondition failed: " + resource.plural + " \"" + key.name +
                                      "\" has another uid or resourceVersion"};
  }
  const std::string uid = meta_text(old, "uid");
  if (options.propagation == Propagation::kOrphan) orphan_dependents(uid);

  Json object = old;
  Json& meta = object["metadata"];
  const bool waits_for_dependents = collects_ && options.propagation == Propagation::kForeground &&
                                    !store_.dependents_of(uid).empty();
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
  } else if (const int before = meta.value("deletionGracePeriodSeconds", 0); grace < before) {
    // A shorter grace period than before, counted from the same moment.
    if (const auto end = parse_rfc3339(meta_text(object, "deletionTimestamp")); end) {
      meta["deletionTimestamp"] = rfc3339(*end - std::chrono::seconds(before - grace));
    }
    meta["deletionGracePeriodSeconds"] = grace;
  }
  if (object != old) store_.put(resource, std::move(object), record->owners);
  if (waits_for_dependents) {
    remove_dependents(uid, now);
    release_if_waiting(uid, now);
  }
  return Done{};
}

StoredObject GarbageCollector::put_or_release(const Resource& resource, Json object,
                                              FieldOwners owners, WallTime now) {
  if (!is_removable(object)) {
    const auto lost = owners_lost(store_, resource, object);
    auto stored = store_.put(resource, std::move(object), std::move(owners));
    if (collects_) {
      for (const auto& uid : lost) release_if_waiting(uid, now);
    }
    return stored;
  }
  // Like the server: one deletion, not a change and then a deletion.
  auto last = std::make_shared<const Json>(std::move(object));
  erase(resource, key_of(*last), now);
  return last;
}

void GarbageCollector::erase(const Resource& resource, const ObjectKey& key, WallTime now) {
  const auto record = store_.read(resource, key);
  if (!record) return;
  store_.erase(resource, key);
  if (!collects_) return;
  removed_.push_back(record->object);
  if (processing_) return;  // the outer call processes this one, too
  processing_ = true;
  while (!removed_.empty()) {
    const StoredObject next = removed_.front();
    removed_.pop_front();
    remove_dependents(meta_text(*next, "uid"), now);
    for (const auto& owner : owner_uids(*next)) release_if_waiting(owner, now);
  }
  processing_ = false;
}

void GarbageCollector::remove_dependents(const std::string& uid, WallTime now) {
  for (const auto& found : store_.dependents_of(uid)) {
    const auto dependent = store_.read(found.resource, found.key);
    if (!dependent || has_live_owner(*dependent->object, uid)) continue;
    (void)static_cast<bool>(remove(found.resource, found.key, {}, now));
  }
}

bool GarbageCollector::has_live_owner(const Json& object, const std::string& besides) const {
  return std::ranges::any_of(owner_uids(object), [&](const std::string& uid) {
    return uid != besides && store_.find_uid(uid).has_value();
  });
}

void GarbageCollector::orphan_dependents(const std::string& uid) {
  if (!collects_) return;
  for (const auto& found : store_.dependents_of(uid)) {
    const auto record = store_.read(found.resource, found.key);
    if (!record) continue;
    Json object = *record->object;
    Json left = Json::array();
    for (const Json& owner : object["metadata"]["ownerReferences"]) {
      if (owner.value("uid", "") != uid) left.push_back(owner);
    }
    object["metadata"]["ownerReferences"] = left;
    if (left.empty()) object["metadata"].erase("ownerReferences");
    store_.put(found.resource, std::move(object), record->owners);
  }
}

// An owner that is deleted in the foreground is removed after its last dependent.
void GarbageCollector::release_if_waiting(const std::string& uid, WallTime now) {
  const auto found = store_.find_uid(uid);
  if (!found) return;
  const auto record = store_.read(found->resource, found->key);
  if (!record) return;
  const auto finalizers = finalizers_of(*record->object);
  if (std::ranges::find(finalizers, kForeground) == finalizers.end()) return;
  if (!store_.dependents_of(uid).empty()) return;
  Json object = *record->object;
  drop_finalizer(object, kForeground);
  put_or_release(found->resource, std::move(object), record->owners, now);
}

void GarbageCollector::collect_dangling(const std::vector<Located>& candidates, WallTime now) {
  for (const auto& found : candidates) {
    const auto record = store_.read(found.resource, found.key);
    if (!record || owner_uids(*record->object).empty()) continue;
    if (has_live_owner(*record->object, "")) continue;
    (void)static_cast<bool>(remove(found.resource, found.key, {}, now));
  }
}

}  // namespace paddle::kube
