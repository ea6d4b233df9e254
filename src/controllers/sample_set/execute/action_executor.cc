// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/action_executor.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/match.h"
#include "controllers/loop/rejection.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/objects/owned_objects.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kDefinition = "samplesets.batch.paddlepaddle.org";

const kube::Resource& resource_of(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kToken:
    case OwnedKind::kCredentials:
    case OwnedKind::kDriverCredentials:
      return kinds::kSecrets;
    case OwnedKind::kVolume:
      return kinds::kPersistentVolumes;
    case OwnedKind::kClaim:
      return kinds::kClaims;
    case OwnedKind::kService:
      return kinds::kServices;
    case OwnedKind::kPolicy:
      return kinds::kNetworkPolicies;
    case OwnedKind::kPreparation:
      return kinds::kPods;
    case OwnedKind::kRuntimes:
      break;
  }
  return kinds::kStatefulSets;
}

// Deleted, or a namesake took its place: either way this object is gone.
template <typename T>
bool is_gone(const Result<T>& result) {
  return result.is(Code::kNotFound) || result.is(Code::kConflict);
}

Json encoded(const runtime::SecretData& data) {
  Json all = Json::object();
  for (const auto& [key, value] : data) all[key] = base64_encode(value);
  return all;
}

}  // namespace

ActionExecutor::ActionExecutor(const ControllerContext& context, WorldObserver& observer,
                               const runtime::RuntimeSecretOptions& identity, const Clock& clock)
    : cluster_(context.cluster),
      observer_(observer),
      clock_(clock),
      identity_(identity),
      writer_(context.cluster, context.events) {}

Result<ActionExecutor::Executed> ActionExecutor::execute(const Action& action, api::SampleSet& set,
                                                         const World& world,
                                                         const kube::Call& call) {
  const auto done = [](Result<> result) -> Result<Executed> {
    if (!result) return std::move(result).error();
    return Executed{};
  };
  return std::visit(
      Match{
          [&](const RemoveFinalizer&) { return done(remove_finalizer(set, call)); },
          [&](const CreateObject& a) { return create(a, set, call); },
          [&](const DeleteObject& a) { return done(remove(a, set, call)); },
          [&](const SetOwners& a) { return done(set_owners(a, call)); },
          [&](const UpdateCredentials& a) { return done(update_credentials(a, call)); },
          [&](const Annotate& a) { return done(annotate(a, call)); },
          [&](const SetClaimUid& a) { return done(set_claim_uid(a, call)); },
          [&](const RenewToken& a) { return done(renew_token(a, set, call)); },
          [&](const ForgetPreviousToken& a) { return done(forget_previous_token(a, call)); },
          [&](const PatchObject& a) { return done(patch(a, call)); },
          [&](const ReplaceRuntime& a) { return done(replace_runtime(a, call)); },
          [&](const AnnotatePodSecrets& a) { return done(annotate_pod(a, call)); },
          [&](const PutJob& a) { return put_job(a, set, world); },
          [&](const CancelJob& a) { return cancel_job(a, set, world); },
          [&](const LabelNode& a) { return done(label_node(a, call)); },
          [&](const EmitEvent& a) {
            emit(set, a);
            return done(Done{});
          },
      },
      action);
}

void ActionExecutor::emit(const api::SampleSet& set, const EmitEvent& event) {
  writer_.emit(kinds::kSampleSets, set.meta, event);
}

Result<> ActionExecutor::write_status(const api::SampleSetStatus& status, const api::SampleSet& set,
                                      const kube::Call& call) {
  api::SampleSet changed = set;
  changed.status = status;
  TRY(const auto stored, writer_.write_status(kinds::kSampleSets, api::encode(changed), call));
  if (stored) {
    observer_.acknowledge_set(*stored);
    observer_.status_written(set.meta.key);
  }
  return Done{};
}

Result<> ActionExecutor::remove_finalizer(api::SampleSet& set, const kube::Call& call) {
  TRY(const auto stored,
      writer_.remove_finalizer(kinds::kSampleSets, set.meta, engine::finalizer_of(set), call));
  if (!stored) return Done{};
  observer_.acknowledge_set(*stored);
  TRY(set, api::decode_sample_set(*stored));
  return Done{};
}

// A volume has no namespace, so no SampleSet can own it: its owner is the CRD of SampleSets.
Result<> ActionExecutor::set_volume_owner(Json& volume, const kube::Call& call) {
  auto definition = cluster_.get(kinds::kCrds, {"", kDefinition}, call);
  if (definition.is(Code::kNotFound) || definition.is(Code::kForbidden)) return Done{};
  if (!definition) return std::move(definition).error().in("read the CRD of SampleSets");
  volume["metadata"]["ownerReferences"] =
      Json::array({Json{{"apiVersion", kinds::kCrds.api_version()},
                        {"kind", kinds::kCrds.kind},
                        {"name", kDefinition},
                        {"uid", (*definition)["metadata"]["uid"]}}});
  return Done{};
}

// The previous token and certificates of the Secret stay valid until all runtimes have the new
// ones.
Result<> ActionExecutor::generate_identity(const api::SampleSet& set, Json& secret) {
  const WallTime now = clock_.wall();
  TRY(const auto made,
      runtime::make_runtime_secret(set.meta.key.ns, set.meta.key.name,
                                   runtime::secret_values(secret), now, identity_));
  secret["data"] = encoded(made);
  Json& annotations = secret["metadata"]["annotations"];
  annotations[kRenewAfter] = rfc3339(runtime::renewal_of(made));
  if (!made.at(runtime::kTokenBefore).empty()) {
    annotations[kForgetAfter] = rfc3339(now + engine::kPreviousSecretLifetime);
  }
  return Done{};
}

Result<ActionExecutor::Executed> ActionExecutor::create(const CreateObject& action,
                                                        const api::SampleSet& set,
                                                        const kube::Call& call) {
  Json object = *action.object;
  if (action.kind == OwnedKind::kToken) CHECK_DONE(generate_identity(set, object));
  if (action.kind == OwnedKind::kVolume) CHECK_DONE(set_volume_owner(object, call));
  const std::string kind = kind_name(action.kind);
  auto stored = cluster_.create(resource_of(action.kind), object, call);
  const bool created = static_cast<bool>(stored);
  // The namespace does not exist. That is for an administrator, like a missing permission.
  if (stored.is(Code::kNotFound)) stored = Error{Code::kForbidden, stored.error().message};
  if (stored.is(Code::kAlreadyExists)) {
    TRY(const api::Meta meta, api::decode_meta(object));
    stored = cluster_.get(resource_of(action.kind), meta.key, call);
  }
  if (!stored) {
    emit(set, {true, event_reason::create_failed(kind), stored.error().message});
    return std::move(stored).error().in("create " + kind);
  }
  TRY(const api::Meta meta, api::decode_meta(*stored));
  if (!engine::belongs_to(meta, set)) return Executed{.conflict = NameConflict{action.kind, meta}};
  observer_.acknowledge(action.kind, *stored);
  if (created) {
    emit(set, {false, event_reason::created(kind), "created " + kind + " " + meta.key.name});
  }
  return Executed{};
}

Result<> ActionExecutor::remove(const DeleteObject& action, const api::SampleSet& set,
                                const kube::Call& call) {
  kube::DeleteOptions options{.uid = action.uid};
  if (action.force) options.grace_seconds = 0;
  const auto removed = cluster_.remove(resource_of(action.kind), action.key, options, call);
  if (removed || is_gone(removed)) {
    observer_.removed(action.kind, action.key);
    return Done{};
  }
  const std::string kind = kind_name(action.kind);
  emit(set, {true, event_reason::delete_failed(kind), removed.error().message});
  return Error(removed.error()).in("delete " + kind + " " + action.key.name);
}

Result<> ActionExecutor::patch(OwnedKind kind, const ObjectKey& key, const kube::Patch& patch,
                               const std::string& doing, const kube::Call& call) {
  auto stored = cluster_.patch(resource_of(kind), key, patch, {}, call);
  if (is_gone(stored)) return Done{};
  if (!stored) return std::move(stored).error().in(doing);
  observer_.acknowledge(kind, *stored);
  return Done{};
}

Result<> ActionExecutor::patch(const PatchObject& action, const kube::Call& call) {
  Json body = Json::array({Json{{"op", "replace"},
                                {"path", "/metadata/resourceVersion"},
                                {"value", action.resource_version}}});
  for (const Json& operation : *action.operations) body.push_back(operation);
  return patch(action.kind, action.key, {.type = kube::PatchType::kJson, .body = std::move(body)},
               "change " + kind_name(action.kind) + " " + action.key.name, call);
}

Result<> ActionExecutor::set_owners(const SetOwners& action, const kube::Call& call) {
  const Json owners = api::encode_meta({.owners = action.owners})["ownerReferences"];
  return patch(action.kind, action.key,
               {.body = {{"metadata", {{"uid", action.uid}, {"ownerReferences", owners}}}}},
               "set the owners of " + kind_name(action.kind) + " " + action.key.name, call);
}

Result<> ActionExecutor::annotate(const Annotate& action, const kube::Call& call) {
  Json annotations = Json::object();
  for (const auto& [name, value] : action.annotations) {
    annotations[name] = value.empty() ? Json(nullptr) : Json(value);
  }
  return patch(action.kind, action.key,
               {.body = {{"metadata", {{"uid", action.uid}, {"annotations", annotations}}}}},
               "annotate " + kind_name(action.kind) + " " + action.key.name, call);
}

Result<> ActionExecutor::set_claim_uid(const SetClaimUid& action, const kube::Call& call) {
  return patch(
      OwnedKind::kVolume, action.key,
      {.body = {{"metadata", {{"uid", action.uid}, {"resourceVersion", action.resource_version}}},
                {"spec",
                 {{"claimRef", {{"uid", action.claim_uid}, {"resourceVersion", nullptr}}}}}}},
      "set the claim of PV " + action.key.name, call);
}

// Reads and writes the whole Secret, because keys that have been removed go as well. Does nothing
// when it is gone, or another one has its name.
Result<> ActionExecutor::change_secret(const SecretChange& action, const kube::Call& call,
                                       const std::function<Result<>(Json&)>& change) {
  auto found = cluster_.get(kinds::kSecrets, action.key, call);
  if (found.is(Code::kNotFound)) return Done{};
  if (!found) return std::move(found).error().in("read " + action.name);
  if ((*found)["metadata"].value("uid", "") != action.uid) return Done{};
  Json changed = *std::move(found);
  CHECK_DONE(change(changed));
  auto stored = cluster_.update(kinds::kSecrets, changed, {}, call);
  if (is_gone(stored)) return Done{};
  if (!stored) return std::move(stored).error().in(action.what);
  observer_.acknowledge(action.kind, *stored);
  return Done{};
}

Result<> ActionExecutor::update_credentials(const UpdateCredentials& action,
                                            const kube::Call& call) {
  return change_secret({action.kind, action.key, action.uid, "the copy of the credentials",
                        "update the copy of the credentials"},
                       call, [&](Json& secret) -> Result<> {
                         secret["data"] = *action.data;
                         for (const auto& [name, value] : action.annotations) {
                           secret["metadata"]["annotations"][name] = value;
                         }
                         return Done{};
                       });
}

Result<> ActionExecutor::renew_token(const RenewToken& action, const api::SampleSet& set,
                                     const kube::Call& call) {
  return change_secret({OwnedKind::kToken, action.key, action.uid, "the token", "renew the token"},
                       call, [&](Json& secret) { return generate_identity(set, secret); });
}

Result<> ActionExecutor::forget_previous_token(const ForgetPreviousToken& action,
                                               const kube::Call& call) {
  return change_secret(
      {OwnedKind::kToken, action.key, action.uid, "the token", "forget the previous token"}, call,
      [](Json& secret) -> Result<> {
        secret["data"] = encoded(runtime::without_previous(runtime::secret_values(secret)));
        secret["metadata"]["annotations"].erase(kForgetAfter);
        return Done{};
      });
}

Result<> ActionExecutor::replace_runtime(const ReplaceRuntime& action, const kube::Call& call) {
  kube::DeleteOptions options{.uid = action.uid};
  if (action.force) options.grace_seconds = 0;
  auto removed = cluster_.remove(kinds::kPods, action.key, options, call);
  if (removed || is_gone(removed)) return Done{};
  return std::move(removed).error().in("replace pod " + action.key.name);
}

// An optimization: without the permission, kubelets update the files a minute or two later.
Result<> ActionExecutor::annotate_pod(const AnnotatePodSecrets& action, const kube::Call& call) {
  const kube::Patch patch{
      .body = {
          {"metadata", {{"uid", action.uid}, {"annotations", {{kSecretVersions, action.value}}}}}}};
  auto stored = cluster_.patch(kinds::kPods, action.pod, patch, {}, call);
  if (is_gone(stored) || (!stored && is_rejection(stored.error()))) return Done{};
  if (!stored) {
    return std::move(stored).error().in("annotate pod " + action.pod.name);
  }
  observer_.acknowledge_pod(*stored);
  return Done{};
}

Result<ActionExecutor::Executed> ActionExecutor::put_job(const PutJob& action,
                                                         const api::SampleSet& set,
                                                         const World& world) {
  const auto sent = observer_.send(set, world, action.partition, action.id, action.request);
  if (!sent) return Executed{};  // for the next pass
  const bool sync = action.request.kind == runtime::JobKind::kSync;
  if (sent->outcome && !*sent->outcome) {
    Error error = sent->outcome->error();
    if (sync) emit(set, {true, event_reason::kSyncRequestFailed, error.message});
    return std::move(error).in("send job " + action.id + " to runtime " +
                               std::to_string(action.partition));
  }
  if (sent->begun && sync && action.partition == 0 && !action.request.sync.counts) {
    emit(set, {false, event_reason::kSyncRequested,
               "requested sync " + action.id + " from the runtimes"});
  }
  return Executed{.waits = !sent->outcome};
}

Result<ActionExecutor::Executed> ActionExecutor::cancel_job(const CancelJob& action,
                                                            const api::SampleSet& set,
                                                            const World& world) {
  const auto sent = observer_.send(set, world, action.partition, action.id, std::nullopt);
  if (!sent) {
    return Error{Code::kUnavailable,
                 "runtime " + std::to_string(action.partition) + " does not run"};
  }
  if (sent->outcome && !*sent->outcome) {
    return Error(sent->outcome->error()).in("cancel job " + action.id);
  }
  return Executed{.waits = !sent->outcome};
}

Result<> ActionExecutor::label_node(const LabelNode& action, const kube::Call& call) {
  const Json value = action.value.empty() ? Json(nullptr) : Json(action.value);
  const kube::Patch patch{.body = {{"metadata", {{"labels", {{action.label, value}}}}}}};
  auto stored = cluster_.patch(kinds::kNodes, {"", action.node}, patch, {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("label node " + action.node);
  observer_.acknowledge_node(*stored);
  return Done{};
}

}  // namespace paddle::controllers::sample_set
