// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/plan_executor.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/match.h"
#include "controllers/loop/rejection.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "engine/names.h"
#include "runtime/identity.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kDefinition = "samplesets.batch.paddlepaddle.org";

// Gone, or a namesake took its place: either way this one is not there any more.
bool is_gone(const Result<>& result) {
  return result.is(Code::kNotFound) || result.is(Code::kConflict);
}
bool is_gone(const Result<Json>& result) {
  return result.is(Code::kNotFound) || result.is(Code::kConflict);
}

void show_name_conflict(OwnedKind kind, const api::Meta& meta, World& world) {
  switch (kind) {
    case OwnedKind::kToken:
      world.token = meta;
      break;
    case OwnedKind::kCredentials:
      world.credentials = meta;
      break;
    case OwnedKind::kVolume:
      world.volume = VolumeSummary{.meta = meta};
      break;
    case OwnedKind::kClaim:
      world.claim = VolumeSummary{.meta = meta};
      break;
    case OwnedKind::kService:
      world.service = meta;
      break;
    case OwnedKind::kPolicy:
      world.policy = meta;
      break;
    case OwnedKind::kPreparation:
      world.preparation = api::Pod{.meta = meta};
      break;
    case OwnedKind::kRuntimes:
      world.runtimes = StatefulSetSummary{.meta = meta};
      break;
  }
}

}  // namespace

Result<PlanExecutor::Executed> PlanExecutor::execute(const Action& action, api::SampleSet& set,
                                                     World& world, const kube::Call& call) {
  const auto done = [](Result<> result) -> Result<Executed> {
    if (!result) return std::move(result).error();
    return Executed::kDone;
  };
  return std::visit(
      Match{
          [&](const RemoveFinalizer&) { return done(drop_finalizer(set, call)); },
          [&](const CreateObject& a) { return create(a, set, world, call); },
          [&](const DeleteObject& a) { return done(remove(a, set, call)); },
          [&](const SetOwners& a) { return done(set_owners(a, call)); },
          [&](const UpdateCredentials& a) { return done(update_credentials(a, call)); },
          [&](const Annotate& a) { return done(annotate(a, call)); },
          [&](const ClearClaimUid& a) { return done(free(a, call)); },
          [&](const RenewToken& a) { return done(renew(a, set, call)); },
          [&](const PatchObject& a) { return done(patch(a, call)); },
          [&](const ReplaceRuntime& a) { return done(replace(a, call)); },
          [&](const AnnotatePodSecrets& a) { return done(annotate_secret_versions(a, call)); },
          [&](const PutJob& a) { return done(put_job(a, set, world, call)); },
          [&](const CancelJob& a) { return done(cancel_job(a, set, world, call)); },
          [&](const LabelNode& a) { return done(label(a, call)); },
          [&](const SetStatus& a) { return done(set_status(a, set, call)); },
          [&](const Tell& a) {
            tell(set, a);
            return done(Done{});
          },
      },
      action);
}

void PlanExecutor::tell(const api::SampleSet& set, const Tell& a) {
  events_.event({.api_version = api::SampleSet::kApiVersion,
                 .kind = api::SampleSet::kKind,
                 .key = set.meta.key,
                 .uid = set.meta.uid},
                a.warning ? kube::EventKind::kWarning : kube::EventKind::kNormal, a.reason,
                a.message);
}

Result<> PlanExecutor::drop_finalizer(api::SampleSet& set, const kube::Call& call) {
  auto left = set.meta.finalizers;
  std::erase(left, engine::finalizer_of(set));
  const kube::Patch patch{
      .body = {
          {"metadata", {{"resourceVersion", set.meta.resource_version}, {"finalizers", left}}}}};
  auto stored = cluster_.patch(kinds::kSampleSets, set.meta.key, patch, {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("drop the finalizer");
  if (set.meta.deleting()) return Done{};  // perhaps that was its end
  observer_.acknowledge_set(*stored);
  TRY(set, api::decode_sample_set(*stored));
  return Done{};
}

// Of a volume, that is, which no SampleSet can own: gone with it is gone for good.
Result<> PlanExecutor::give_owner(Json& volume, const kube::Call& call) {
  auto definition = cluster_.get(kinds::kCrds, {"", kDefinition}, call);
  if (definition.is(Code::kNotFound) || definition.is(Code::kForbidden)) return Done{};
  if (!definition) return std::move(definition).error().in("read the definition of SampleSets");
  volume["metadata"]["ownerReferences"] =
      Json::array({Json{{"apiVersion", kinds::kCrds.api_version()},
                        {"kind", kinds::kCrds.kind},
                        {"name", kDefinition},
                        {"uid", (*definition)["metadata"]["uid"]}}});
  return Done{};
}

// What was there before stays good until everybody has the new ones.
Result<> PlanExecutor::give_identity(const api::SampleSet& set, Json& secret) {
  TRY(const auto made,
      runtime::make_identity(set.meta.key.ns, set.meta.key.name, runtime::secret_values(secret),
                             clock_.wall(), options_.identity));
  secret["data"] = Json::object();
  for (const auto& [key, value] : made) secret["data"][key] = base64_encode(value);
  secret["metadata"]["annotations"][kRenewAfter] = rfc3339(runtime::renewal_of(made));
  return Done{};
}

Result<PlanExecutor::Executed> PlanExecutor::create(const CreateObject& a,
                                                    const api::SampleSet& set, World& world,
                                                    const kube::Call& call) {
  Json object = *a.object;
  if (a.kind == OwnedKind::kToken) CHECK_DONE(give_identity(set, object));
  if (a.kind == OwnedKind::kVolume) CHECK_DONE(give_owner(object, call));
  auto stored = cluster_.create(resource_of(a.kind), object, call);
  const bool made = static_cast<bool>(stored);
  if (stored.is(Code::kAlreadyExists)) {
    TRY(const api::Meta meta, api::decode_meta(object));
    stored = cluster_.get(resource_of(a.kind), meta.key, call);
  }
  if (!stored) {
    tell(set, {true, "ErrorCreate" + kind_name(a.kind), stored.error().message});
    return std::move(stored).error().in("create " + kind_name(a.kind));
  }
  TRY(const api::Meta meta, api::decode_meta(*stored));
  if (!engine::belongs_to(meta, set)) {
    show_name_conflict(a.kind, meta, world);
    return Executed::kNameConflict;
  }
  observer_.acknowledge(a.kind, *stored);
  if (made) {
    tell(set, {false, "Create" + kind_name(a.kind) + "Successfully",
               "created " + kind_name(a.kind) + " " + meta.key.name});
  }
  return Executed::kDone;
}

Result<> PlanExecutor::remove(const DeleteObject& a, const api::SampleSet& set,
                              const kube::Call& call) {
  kube::DeleteOptions options{.uid = a.uid};
  if (a.force) options.grace_seconds = 0;
  const auto removed = cluster_.remove(resource_of(a.kind), a.key, options, call);
  if (removed || is_gone(removed)) return Done{};
  tell(set, {true, "ErrorDelete" + kind_name(a.kind), removed.error().message});
  return Error(removed.error()).in("delete " + kind_name(a.kind) + " " + a.key.name);
}

// One that is gone, or has a namesake in its place, is for the next pass to see.
Result<> PlanExecutor::change(OwnedKind kind, const ObjectKey& key, const kube::Patch& patch,
                              const std::string& doing, const kube::Call& call) {
  auto stored = cluster_.patch(resource_of(kind), key, patch, {}, call);
  if (is_gone(stored)) return Done{};
  if (!stored) return std::move(stored).error().in(doing);
  observer_.acknowledge(kind, *stored);
  return Done{};
}

Result<> PlanExecutor::patch(const PatchObject& a, const kube::Call& call) {
  Json body = Json::array({Json{
      {"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", a.resource_version}}});
  for (const Json& operation : *a.operations) body.push_back(operation);
  return change(a.kind, a.key, {.type = kube::PatchType::kJson, .body = std::move(body)},
                "change " + kind_name(a.kind) + " " + a.key.name, call);
}

Result<> PlanExecutor::set_owners(const SetOwners& a, const kube::Call& call) {
  const Json owners = api::encode_meta({.owners = a.owners})["ownerReferences"];
  const kube::Patch patch{.body = {{"metadata", {{"uid", a.uid}, {"ownerReferences", owners}}}}};
  return change(a.kind, a.key, patch, "keep " + kind_name(a.kind) + " for users", call);
}

Result<> PlanExecutor::annotate(const Annotate& a, const kube::Call& call) {
  Json annotations = Json::object();
  for (const auto& [name, value] : a.annotations) {
    annotations[name] = value.empty() ? Json(nullptr) : Json(value);
  }
  const kube::Patch patch{.body = {{"metadata", {{"uid", a.uid}, {"annotations", annotations}}}}};
  return change(a.kind, a.key, patch, "annotate " + kind_name(a.kind) + " " + a.key.name, call);
}

Result<> PlanExecutor::free(const ClearClaimUid& a, const kube::Call& call) {
  const kube::Patch patch{
      .body = {{"metadata", {{"uid", a.uid}, {"resourceVersion", a.resource_version}}},
               {"spec", {{"claimRef", {{"uid", nullptr}, {"resourceVersion", nullptr}}}}}}};
  return change(OwnedKind::kVolume, a.key, patch, "free PV " + a.key.name, call);
}

// Keys that the user has taken out go as well, so the whole is read and written back.
Result<> PlanExecutor::update_credentials(const UpdateCredentials& a, const kube::Call& call) {
  auto found = cluster_.get(kinds::kSecrets, a.key, call);
  if (found.is(Code::kNotFound)) return Done{};
  if (!found) return std::move(found).error().in("read the copy of the credentials");
  if ((*found)["metadata"].value("uid", "") != a.uid) return Done{};
  Json changed = *std::move(found);
  changed["data"] = *a.data;
  for (const auto& [name, value] : a.annotations) changed["metadata"]["annotations"][name] = value;
  auto stored = cluster_.update(kinds::kSecrets, changed, {}, call);
  if (is_gone(stored)) return Done{};
  if (!stored) return std::move(stored).error().in("update the copy of the credentials");
  observer_.acknowledge(OwnedKind::kCredentials, *stored);
  return Done{};
}

Result<> PlanExecutor::renew(const RenewToken& a, const api::SampleSet& set,
                             const kube::Call& call) {
  auto found = cluster_.get(kinds::kSecrets, a.key, call);
  if (found.is(Code::kNotFound)) return Done{};
  if (!found) return std::move(found).error().in("read the token");
  if ((*found)["metadata"].value("uid", "") != a.uid) return Done{};
  Json changed = *std::move(found);
  CHECK_DONE(give_identity(set, changed));
  auto stored = cluster_.update(kinds::kSecrets, changed, {}, call);
  if (is_gone(stored)) return Done{};
  if (!stored) return std::move(stored).error().in("renew the token");
  observer_.acknowledge(OwnedKind::kToken, *stored);
  return Done{};
}

Result<> PlanExecutor::replace(const ReplaceRuntime& a, const kube::Call& call) {
  kube::DeleteOptions options{.uid = a.uid};
  if (a.force) options.grace_seconds = 0;
  auto removed = cluster_.remove(kinds::kPods, a.key, options, call);
  if (removed || is_gone(removed)) return Done{};
  return std::move(removed).error().in("replace pod " + a.key.name);
}

// A help and no more: without the right to it, kubelets take their time.
Result<> PlanExecutor::annotate_secret_versions(const AnnotatePodSecrets& a,
                                                const kube::Call& call) {
  const kube::Patch patch{
      .body = {{"metadata", {{"uid", a.uid}, {"annotations", {{kSecretVersions, a.value}}}}}}};
  auto stored = cluster_.patch(kinds::kPods, a.pod, patch, {}, call);
  if (is_gone(stored) || (!stored && is_rejection(stored.error()))) return Done{};
  if (!stored) return std::move(stored).error().in("tell pod " + a.pod.name + " of other keys");
  observer_.acknowledge_pod(*stored);
  return Done{};
}

Result<> PlanExecutor::put_job(const PutJob& a, const api::SampleSet& set, const World& world,
                               const kube::Call& call) {
  const auto access = observer_.runtime_credentials(set);
  const auto pods = running_runtimes(set, world.pods);
  const auto pod = std::ranges::find(pods, a.partition, &RuntimePod::partition);
  if (!access || pod == pods.end()) return Done{};  // the next pass sees
  const bool sync = a.request.kind == runtime::JobKind::kSync;
  auto report = options_.runtime_at(pod->address, *access)->put_job(a.id, a.request, call.stop);
  if (!report) {
    if (sync) tell(set, {true, "ErrorCreateSyncJob", report.error().message});
    return std::move(report).error().in("give runtime " + std::to_string(a.partition) +
                                        " the job " + a.id);
  }
  if (sync && a.partition == 0 && !a.request.sync.counts) {
    tell(set, {false, "CreateSyncJobSuccessfully", "asked the runtimes to sync: " + a.id});
  }
  return Done{};
}

Result<> PlanExecutor::cancel_job(const CancelJob& a, const api::SampleSet& set, const World& world,
                                  const kube::Call& call) {
  const auto access = observer_.runtime_credentials(set);
  const auto pods = running_runtimes(set, world.pods);
  const auto pod = std::ranges::find(pods, a.partition, &RuntimePod::partition);
  if (!access || pod == pods.end()) return Error{Code::kUnavailable, "a runtime has gone"};
  auto told = options_.runtime_at(pod->address, *access)->cancel(a.id, call.stop);
  if (!told) return std::move(told).error().in("cancel the job " + a.id);
  return Done{};
}

Result<> PlanExecutor::label(const LabelNode& a, const kube::Call& call) {
  const Json value = a.value.empty() ? Json(nullptr) : Json(a.value);
  const kube::Patch patch{.body = {{"metadata", {{"labels", {{a.label, value}}}}}}};
  auto stored = cluster_.patch(kinds::kNodes, {"", a.node}, patch, {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("label node " + a.node);
  observer_.acknowledge_node(*stored);
  return Done{};
}

Result<> PlanExecutor::set_status(const SetStatus& a, const api::SampleSet& set,
                                  const kube::Call& call) {
  api::SampleSet changed = set;
  changed.status = a.status;
  auto stored = cluster_.update(kinds::kSampleSets, api::encode(changed), "status", call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("write status");
  observer_.acknowledge_set(*stored);
  return Done{};
}

}  // namespace paddle::controllers::sample_set
