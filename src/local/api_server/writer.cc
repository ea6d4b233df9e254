// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/writer.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"
#include "kube/rules/server_side_apply.h"
#include "local/api_server/admission.h"
#include "local/api_server/namespaces.h"
#include "local/api_server/patches.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;
using kube::FieldOwners;
using kube::Record;

Error not_found(const Kind& kind, const ObjectKey& key) {
  return {Code::kNotFound, qualified(kind.resource) + " \"" + key.name + "\" not found"};
}

// The object as a subresource represents it.
Json seen_through(const Json& object, const std::string& subresource) {
  return subresource == "scale" ? kube::scale_of(object) : object;
}

std::string new_uid(Random& random) {
  std::string hex = random.hex(32);
  hex[12] = '4';  // a random (version 4) UUID
  hex[16] = "89ab"[random.below(4)];
  for (const size_t at : {20U, 16U, 12U, 8U}) hex.insert(at, "-");
  return hex;
}

// The path of the request is the object's key; the object must not contradict it.
Result<> settle_key(const Kind& kind, const ObjectKey& key, Json& object, ResponseNotes& notes) {
  notes.bad_request = true;
  if (!object.is_object()) return Error{Code::kInvalid, "the body must be an object"};
  Json& meta = object["metadata"];
  if (meta.is_null()) meta = Json::object();
  if (!meta.is_object()) return Error{Code::kInvalid, "metadata must be an object"};
  const ObjectKey given = kube::key_of(object);
  if (kind.resource.namespaced && !given.ns.empty() && given.ns != key.ns) {
    return Error{Code::kInvalid,
                 "the namespace of the provided object does not match the namespace sent on the "
                 "request"};
  }
  if (!key.name.empty() && !given.name.empty() && given.name != key.name) {
    return Error{Code::kInvalid, "the name of the object (" + given.name +
                                     ") does not match the name on the URL (" + key.name + ")"};
  }
  if (kind.resource.namespaced) meta["namespace"] = key.ns;
  if (!key.name.empty()) meta["name"] = key.name;
  notes.bad_request = false;
  return Done{};
}

}  // namespace

Result<> Writer::write(bool dry_run, const Storage::Body& body) {
  return storage_.write(
      [&](Transaction& transaction) -> Result<> {
        CHECK_DONE(body(transaction));
        return finish_namespaces(transaction);
      },
      dry_run);
}

Result<Json> Writer::create(const Kind& kind, const std::string& ns, Json object,
                            const WriteOptions& options, ResponseNotes& notes) {
  CHECK_DONE(settle_key(kind, {.ns = ns}, object, notes));
  Json stored;
  CHECK_DONE(write(options.dry_run, [&](Transaction& transaction) -> Result<> {
    TRY(stored, create_in(transaction, kind, std::move(object), {}, options, notes));
    return Done{};
  }));
  return stored;
}

Result<Json> Writer::create_in(Transaction& transaction, const Kind& kind, Json object,
                               FieldOwners owners, const WriteOptions& options,
                               ResponseNotes& notes) {
  notes.created = true;
  if (kind.resource.namespaced) {
    CHECK_DONE(check_namespace(transaction, kube::key_of(object).ns));
  }
  const kube::ServerFields server_fields{
      .uid = new_uid(random_), .now = clock_.wall(), .name_suffix = random_.hex(5)};
  TRY(Json prepared, kube::prepare_create(kind.resource, std::move(object), server_fields));
  TRY(prepared, admit(kind, std::move(prepared), {.validation = options.validation}, notes));
  const ObjectKey key = kube::key_of(prepared);
  if (transaction.read(kind.resource, key)) {
    return Error{Code::kAlreadyExists,
                 qualified(kind.resource) + " \"" + key.name + "\" already exists"};
  }
  if (owners.empty()) kube::note_plain_write(Json::object(), prepared, owners);
  return Json(*transaction.put(kind.resource, std::move(prepared), std::move(owners)));
}

// `owners` is the result of server-side apply; null for plain writes.
Result<Json> Writer::write_in(Transaction& transaction, const Kind& kind, const Record& old,
                              Json incoming, const std::string& subresource,
                              const FieldOwners* owners, const WriteOptions& options,
                              ResponseNotes& notes) {
  const Json& before = *old.object;
  if (subresource == "scale") {
    TRY(incoming, kube::with_scale(before, incoming));
  }
  const std::string part = subresource == "status" ? subresource : std::string{};
  TRY(Json updated, admit_update(kind, before, std::move(incoming), part,
                                 {.validation = options.validation}, notes));
  if (updated == before) return seen_through(before, subresource);

  FieldOwners after = owners ? *owners : old.owners;
  if (!owners) kube::note_plain_write(before, updated, after);
  kube::GarbageCollector garbage(transaction, true);
  const auto stored =
      garbage.put_or_release(kind.resource, std::move(updated), std::move(after), clock_.wall());
  return seen_through(*stored, subresource);
}

Result<Json> Writer::update(const Kind& kind, const ObjectKey& key, Json object,
                            const std::string& subresource, const WriteOptions& options,
                            ResponseNotes& notes) {
  CHECK_DONE(settle_key(kind, key, object, notes));
  const kube::KindRules rules = kube::rules_of(kind.resource);
  const bool names_version = !kube::meta_text(object, "resourceVersion").empty();
  Json stored;
  CHECK_DONE(write(options.dry_run, [&](Transaction& transaction) -> Result<> {
    const auto record = transaction.read(kind.resource, key);
    if (!record) {
      if (!rules.create_on_update || names_version || !subresource.empty())
        return not_found(kind, key);
      TRY(stored, create_in(transaction, kind, std::move(object), {}, options, notes));
      return Done{};
    }
    if (rules.needs_version && !names_version && subresource != "scale") {
      return Error{Code::kInvalid,
                   "metadata.resourceVersion: Invalid value: 0: must be specified for an update"};
    }
    TRY(stored, write_in(transaction, kind, *record, std::move(object), subresource, nullptr,
                         options, notes));
    return Done{};
  }));
  return stored;
}

Result<Json> Writer::patch(const Kind& kind, const ObjectKey& key, PatchStyle style,
                           const Json& body, const std::string& subresource,
                           const WriteOptions& options, ResponseNotes& notes) {
  Json stored;
  CHECK_DONE(write(options.dry_run, [&](Transaction& transaction) -> Result<> {
    if (style == PatchStyle::kApply) {
      TRY(stored, apply_in(transaction, kind, key, body, subresource, options, notes));
      return Done{};
    }
    const auto record = transaction.read(kind.resource, key);
    if (!record) return not_found(kind, key);
    TRY(Json incoming, patched(seen_through(*record->object, subresource), style, body));
    if (!incoming.is_object() || kube::key_of(incoming) != key) {
      return Error{Code::kInvalid, "metadata.name: Invalid value: field is immutable"};
    }
    TRY(stored, write_in(transaction, kind, *record, std::move(incoming), subresource, nullptr,
                         options, notes));
    return Done{};
  }));
  return stored;
}

Result<Json> Writer::apply_in(Transaction& transaction, const Kind& kind, const ObjectKey& key,
                              const Json& body, const std::string& subresource,
                              const WriteOptions& options, ResponseNotes& notes) {
  if (options.field_manager.empty()) {
    return Error{Code::kInvalid, "fieldManager: Required value: is required for apply patch"};
  }
  if (subresource == "scale") return Error{Code::kInvalid, "apply to scale is not supported"};
  Json config = body;
  CHECK_DONE(settle_key(kind, key, config, notes));
  config["metadata"].erase("managedFields");

  const auto record = transaction.read(kind.resource, key);
  if (!record) {
    if (!subresource.empty()) return not_found(kind, key);
    FieldOwners owners;
    TRY(Json made, kube::apply_config(config, config, options.field_manager, false, owners));
    return create_in(transaction, kind, std::move(made), std::move(owners), options, notes);
  }
  FieldOwners owners = record->owners;
  Json scope = config;  // a subresource sees only its own part
  if (subresource == "status") {
    scope = {{"status", config.value("status", Json::object())}};
  } else if (kube::rules_of(kind.resource).status) {
    scope.erase("status");
  }
  TRY(Json incoming,
      kube::apply_config(*record->object, scope, options.field_manager, options.force, owners));
  for (const char* field : {"uid", "resourceVersion"}) {
    if (const auto wanted = kube::meta_text(config, field); !wanted.empty()) {
      incoming["metadata"][field] = wanted;
    }
  }
  return write_in(transaction, kind, *record, std::move(incoming), subresource, &owners, options,
                  notes);
}

Result<> Writer::remove_in(Transaction& transaction, const Kind& kind, const ObjectKey& key,
                           const kube::DeleteOptions& options) {
  if (kind.resource == kube::resources::kNamespaces) {
    return delete_namespace(transaction, key.name, options, clock_.wall());
  }
  kube::GarbageCollector garbage(transaction, true);
  auto done = garbage.remove(kind.resource, key, options, clock_.wall());
  if (done.is(Code::kNotFound)) return not_found(kind, key);
  return done;
}

Result<Writer::Removed> Writer::remove(const Kind& kind, const ObjectKey& key,
                                       const kube::DeleteOptions& options, bool dry_run) {
  Removed removed;
  const auto change = [&](Transaction& transaction) -> Result<> {
    const auto before = transaction.read(kind.resource, key);
    if (!before) return not_found(kind, key);
    CHECK_DONE(remove_in(transaction, kind, key, options));
    CHECK_DONE(finish_namespaces(transaction));
    const auto after = transaction.read(kind.resource, key);
    removed = {.last = after ? *after->object : *before->object, .gone = !after};
    return Done{};
  };
  CHECK_DONE(write(dry_run, change));
  return removed;
}

Result<std::vector<Json>> Writer::remove_all(const Kind& kind, const std::string& ns,
                                             const kube::Selector& selector,
                                             const kube::DeleteOptions& options, bool dry_run) {
  std::vector<Json> removed;
  const auto change = [&](Transaction& transaction) -> Result<> {
    for (const auto& found : transaction.in_collection(collection_of(kind.resource), ns)) {
      const auto record = transaction.read(found.resource, found.key);
      if (!record || !selector.matches(*record->object)) continue;
      removed.push_back(*record->object);
      CHECK_DONE(remove_in(transaction, kind, found.key, options));
    }
    return Done{};
  };
  CHECK_DONE(write(dry_run, change));
  return removed;
}

Result<> Writer::bind(const ObjectKey& pod, const Json& binding, const WriteOptions& options) {
  static const Json::json_pointer kTarget{"/target/name"};
  if (!binding.is_object() || !binding.contains(kTarget) || !binding.at(kTarget).is_string()) {
    return Error{Code::kInvalid, "target.name: Required value"};
  }
  const Kind& pods = *find_kind("", "v1", "pods");
  return write(options.dry_run, [&](Transaction& transaction) -> Result<> {
    const auto record = transaction.read(pods.resource, pod);
    if (!record) return not_found(pods, pod);
    Json updated = *record->object;
    if (!updated["spec"].is_object() || !updated["spec"].value("nodeName", "").empty()) {
      return Error{Code::kConflict, "pod " + pod.name + " is already assigned to a node"};
    }
    updated["spec"]["nodeName"] = binding.at(kTarget);
    ResponseNotes notes;
    TRY(const Json stored,
        write_in(transaction, pods, *record, std::move(updated), "", nullptr, options, notes));
    return Done{};
  });
}

}  // namespace paddle::local
