// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/fake_cluster.h"

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"

namespace paddle::kube {
namespace {

Error not_found(const Resource& resource, const ObjectKey& key) {
  return {Code::kNotFound, resource.plural + " \"" + key.name + "\" not found"};
}

Result<> check_sub(const Resource& resource, const std::string& sub) {
  const KindRules rules = rules_of(resource);
  if (sub.empty() || (sub == "status" && rules.status) || (sub == "scale" && rules.scale)) {
    return Done{};
  }
  return Error{Code::kNotFound, resource.plural + " has no subresource " + sub};
}

Result<Json> patched(const Json& object, const Patch& patch) {
  if (patch.type == PatchType::kMerge) {
    if (!patch.body.is_object()) return Error{Code::kInvalid, "a merge patch must be an object"};
    Json result = object;
    result.merge_patch(patch.body);
    return result;
  }
  try {
    return object.patch(patch.body);
  } catch (const Json::exception& e) {
    return Error{Code::kInvalid, std::string("JSON patch: ") + e.what()};
  }
}

// The part of the object that a write through a subresource reads and writes.
Json seen_through(const Json& object, const std::string& sub) {
  return sub == "scale" ? scale_of(object) : object;
}

}  // namespace

FakeCluster::FakeCluster(const FakeOptions& options)
    : clock_(options.clock ? *options.clock : system_clock()),
      random_(options.seed),
      storage_(options.history_limit),
      garbage_(storage_, options.collects_garbage) {}

Result<> FakeCluster::begin(const Request& request, const Call& call) {
  if (call.may_send && !call.may_send()) return Error{Code::kCancelled, "not sent"};
  std::function<void(const Request&)> observer;
  {
    Lock lock(mutex_);
    requests_.push_back(request);
    observer = observer_;
  }
  if (observer) observer(request);
  if (call.stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
  if (!request.resource.namespaced && !request.key.ns.empty()) {
    return Error{Code::kInvalid, request.resource.plural + " are not namespaced"};
  }
  return Done{};
}

Result<Json> FakeCluster::get(const Resource& resource, const ObjectKey& key, const Call& call) {
  CHECK_DONE(begin({Verb::kGet, resource, key}, call));
  Lock lock(mutex_);
  const Record* record = storage_.find(resource, key);
  if (!record) return not_found(resource, key);
  return Json(*record->object);
}

Result<Json> FakeCluster::get_sub(const Resource& resource, const ObjectKey& key,
                                  const std::string& sub, const Call& call) {
  CHECK_DONE(begin({Verb::kGetSub, resource, key, sub}, call));
  CHECK_DONE(check_sub(resource, sub));
  Lock lock(mutex_);
  const Record* record = storage_.find(resource, key);
  if (!record) return not_found(resource, key);
  return seen_through(*record->object, sub);
}

Result<Json> FakeCluster::create(const Resource& resource, const Json& object, const Call& call) {
  CHECK_DONE(begin({Verb::kCreate, resource, key_of(object)}, call));
  Lock lock(mutex_);
  return create_locked(resource, object, {});
}

Result<Json> FakeCluster::create_locked(const Resource& resource, const Json& object,
                                        FieldOwners owners) {
  const std::string hex = random_.hex(32);
  const ServerFields server_fields{.uid = hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" +
                                          hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
                                          hex.substr(20),
                                   .now = clock_.wall(),
                                   .name_suffix = random_.hex(5)};
  TRY(Json prepared, prepare_create(resource, object, server_fields));
  if (storage_.find(resource, key_of(prepared))) {
    return Error{Code::kAlreadyExists,
                 resource.plural + " \"" + key_of(prepared).name + "\" already exists"};
  }
  if (owners.empty()) note_plain_write(Json::object(), prepared, owners);
  const StoredObject stored = storage_.put(resource, std::move(prepared), std::move(owners));
  changed_.notify_all();
  return Json(*stored);
}

// `owners` is what server-side apply decided; null for plain writes.
Result<Json> FakeCluster::write_locked(const Resource& resource, const Record& old, Json incoming,
                                       const std::string& sub, FieldOwners* owners) {
  const StoredObject before = old.object;  // the record may be moved below
  if (sub == "scale") {
    TRY(incoming, with_scale(*before, incoming));
  }
  TRY(Json updated,
      prepare_update(resource, *before, std::move(incoming), sub == "scale" ? "" : sub));
  if (updated == *before) return seen_through(*before, sub);

  FieldOwners after = owners ? *owners : old.owners;
  if (!owners) note_plain_write(*before, updated, after);
  const StoredObject stored =
      garbage_.put_or_release(resource, std::move(updated), std::move(after), clock_.wall());
  changed_.notify_all();
  return seen_through(*stored, sub);
}

Result<Json> FakeCluster::update(const Resource& resource, const Json& object,
                                 const std::string& sub, const Call& call) {
  const ObjectKey key = key_of(object);
  CHECK_DONE(begin({Verb::kUpdate, resource, key, sub}, call));
  CHECK_DONE(check_sub(resource, sub));
  const KindRules rules = rules_of(resource);
  const bool names_version = !meta_text(object, "resourceVersion").empty();
  Lock lock(mutex_);
  const Record* record = storage_.find(resource, key);
  if (!record) {
    if (!rules.create_on_update || names_version) return not_found(resource, key);
    return create_locked(resource, object, {});
  }
  if (rules.needs_version && !names_version && sub != "scale") {
    return Error{Code::kInvalid, "metadata.resourceVersion: must be specified for an update"};
  }
  return write_locked(resource, *record, object, sub, nullptr);
}

Result<Json> FakeCluster::patch(const Resource& resource, const ObjectKey& key, const Patch& patch,
                                const std::string& sub, const Call& call) {
  CHECK_DONE(begin({Verb::kPatch, resource, key, sub}, call));
  CHECK_DONE(check_sub(resource, sub));
  Lock lock(mutex_);
  if (patch.type == PatchType::kApply) return apply_locked(resource, key, patch, sub);
  return patch_locked(resource, key, patch, sub);
}

Result<Json> FakeCluster::patch_locked(const Resource& resource, const ObjectKey& key,
                                       const Patch& patch, const std::string& sub) {
  const Record* record = storage_.find(resource, key);
  if (!record) return not_found(resource, key);
  TRY(Json incoming, patched(seen_through(*record->object, sub), patch));
  if (incoming.is_object() && incoming.contains("metadata") && key_of(incoming) != key) {
    return Error{Code::kInvalid, "a patch cannot change the name or namespace"};
  }
  return write_locked(resource, *record, std::move(incoming), sub, nullptr);
}

Result<Json> FakeCluster::apply_locked(const Resource& resource, const ObjectKey& key,
                                       const Patch& patch, const std::string& sub) {
  if (patch.field_manager.empty()) {
    return Error{Code::kInvalid, "PatchOptions.fieldManager: is required for apply patch"};
  }
  if (sub == "scale") return Error{Code::kInvalid, "apply to scale is not supported"};
  if (!patch.body.is_object()) return Error{Code::kInvalid, "an apply patch must be an object"};
  Json config = patch.body;
  config["metadata"]["name"] = key.name;
  if (resource.namespaced) config["metadata"]["namespace"] = key.ns;

  const Record* record = storage_.find(resource, key);
  if (!record) {
    if (sub == "status") return not_found(resource, key);
    FieldOwners owners;
    TRY(Json made, apply_config(config, config, patch.field_manager, false, owners));
    return create_locked(resource, made, std::move(owners));
  }
  FieldOwners owners = record->owners;
  Json scope = config;  // a subresource sees only its own part
  if (sub == "status") {
    scope = {{"status", config.value("status", Json::object())}};
  } else if (rules_of(resource).status) {
    scope.erase("status");
  }
  TRY(Json incoming,
      apply_config(*record->object, scope, patch.field_manager, patch.force, owners));
  for (const char* field : {"uid", "resourceVersion"}) {
    if (const auto wanted = meta_text(config, field); !wanted.empty()) {
      incoming["metadata"][field] = wanted;
    }
  }
  return write_locked(resource, *record, std::move(incoming), sub, &owners);
}

Result<> FakeCluster::remove(const Resource& resource, const ObjectKey& key,
                             const DeleteOptions& options, const Call& call) {
  CHECK_DONE(begin({Verb::kRemove, resource, key}, call));
  Lock lock(mutex_);
  auto done = garbage_.remove(resource, key, options, clock_.wall());
  changed_.notify_all();
  return done;
}

void FakeCluster::collect_dangling() {
  Lock lock(mutex_);
  std::vector<Located> all;
  for (const auto& [name, collection] : storage_.collections()) {
    for (const auto& [key, record] : collection.records) all.push_back({collection.resource, key});
  }
  garbage_.collect_dangling(all, clock_.wall());
  changed_.notify_all();
}

std::vector<Request> FakeCluster::requests() const {
  Lock lock(mutex_);
  return requests_;
}

void FakeCluster::forget_requests() {
  Lock lock(mutex_);
  requests_.clear();
}

void FakeCluster::observe(std::function<void(const Request&)> observer) {
  Lock lock(mutex_);
  observer_ = std::move(observer);
}

std::string FakeCluster::version() const {
  Lock lock(mutex_);
  return std::to_string(storage_.version());
}

}  // namespace paddle::kube
