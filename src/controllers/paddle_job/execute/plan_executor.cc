// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/execute/plan_executor.h"

#include <map>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/match.h"
#include "base/parallel_for.h"
#include "controllers/paddle_job/decide/status.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/owner.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;
using kube::EventKind;
namespace kinds = kube::resources;

constexpr size_t kAtOnce = 16;
constexpr size_t kNamesInAnEvent = 8;

std::string kind_name(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kPod:
      return "pod";
    case OwnedKind::kService:
      return "service";
    case OwnedKind::kConfigMap:
      return "configmap";
    case OwnedKind::kPodGroup:
      break;
  }
  return "podgroup";
}

// "created pod a" or "created pods a, b, c" or "created pods a, b, ... and 492 more".
std::string event_message(const std::string& verb, OwnedKind kind,
                          const std::vector<std::string>& names) {
  std::string text = verb + " " + kind_name(kind) + (names.size() > 1 ? "s " : " ");
  for (size_t i = 0; i < std::min(names.size(), kNamesInAnEvent); ++i) {
    text += (i ? ", " : "") + names[i];
  }
  if (names.size() > kNamesInAnEvent) {
    text += " and " + std::to_string(names.size() - kNamesInAnEvent) + " more";
  }
  return text;
}

// It is being deleted, or will be: its owner was another job of this one's name.
bool is_leftover(const api::Meta& namesake, const api::PaddleJob& job) {
  if (namesake.deleting()) return true;
  const auto* owner = namesake.controller();
  return owner && owner->kind == api::PaddleJob::kKind && owner->name == job.meta.key.name &&
         owner->uid != job.meta.uid;
}

}  // namespace

struct PlanExecutor::ActionResult {
  const Create* created = nullptr;
  const Delete* deleted = nullptr;
  bool gone = false;  // for sure
  std::optional<BlockReason> name_conflict{};
};

void PlanExecutor::emit(const api::PaddleJob& job, EventKind kind, const char* reason,
                        std::string message) {
  events_.event({.api_version = api::PaddleJob::kApiVersion,
                 .kind = api::PaddleJob::kKind,
                 .key = job.meta.key,
                 .uid = job.meta.uid},
                kind, reason, std::move(message));
}

Result<> PlanExecutor::execute(const Wave& wave, const api::PaddleJob& job, JobCache& cache,
                               const kube::Call& call) {
  std::vector<ActionResult> results(wave.size());
  cache.name_conflict.reset();
  auto done = parallel_for(wave.size(), kAtOnce, [&](size_t i) {
    return execute_action(wave[i], job, results[i], call);
  });
  emit_events(results, job, cache);
  return done;
}

Result<> PlanExecutor::execute_action(const Action& action, const api::PaddleJob& job,
                                      ActionResult& result, const kube::Call& call) {
  return std::visit(Match{
                        [&](const Create& a) { return create(a, job, result, call); },
                        [&](const Delete& a) { return remove(a, result, call); },
                        [&](const Replace& a) { return replace(a, call); },
                        [&](const ReleasePod& a) { return release(a, call); },
                        [&](const Patch& a) { return patch(a, call); },
                        [&](const DropFinalizer&) { return drop_finalizer(job, call); },
                        [&](const DeleteJob&) { return delete_job(job, call); },
                    },
                    action);
}

Result<> PlanExecutor::create(const Create& a, const api::PaddleJob& job, ActionResult& result,
                              const kube::Call& call) {
  auto created = cluster_.create(resource_of(a.kind), *a.manifest, call);
  if (created.is(Code::kAlreadyExists)) return adopt(a, job, result, call);
  if (!created) {
    emit(job, EventKind::kWarning, "Create",
         "create failed " + kind_name(a.kind) + " " + a.key.name + ": " + created.error().message);
    return std::move(created).error();
  }
  observer_.acknowledge(a.kind, *created);
  result.created = &a;
  return Done{};
}

// A namesake: ours when an answer was lost or an older operator made it; else what a job of this
// name left, which goes by itself; else somebody else's.
Result<> PlanExecutor::adopt(const Create& a, const api::PaddleJob& job, ActionResult& result,
                             const kube::Call& call) {
  const kube::Resource& resource = resource_of(a.kind);
  TRY(Json found, cluster_.get(resource, a.key, call));
  TRY(const api::Meta meta, api::decode_meta(found));
  if (!belongs_to(meta, job) && is_leftover(meta, job)) {
    result.name_conflict = BlockReason{"NameNotFree", "waiting for the " + resource.kind + " " +
                                                          a.key.name + " of before to be gone"};
    return Error{Code::kAlreadyExists, result.name_conflict->message};
  }
  if (!belongs_to(meta, job)) {
    const std::string text =
        "a " + resource.kind + " named " + a.key.name +
        " is there already and belongs to somebody else; remove it or rename the job";
    emit(job, EventKind::kWarning, "NameTaken", text);
    return Error{Code::kAlreadyExists, text};
  }
  if (!meta.labels.contains(kJobNameLabel)) {  // without it our informers do not show the object
    auto labelled = cluster_.patch(
        resource, a.key,
        {.body = {{"metadata",
                   {{"uid", meta.uid}, {"labels", {{kJobNameLabel, job.meta.key.name}}}}}}},
        {}, call);
    if (!labelled) return std::move(labelled).error().in("label " + a.key.name);
    found = *std::move(labelled);
  }
  observer_.acknowledge(a.kind, found);
  return Done{};
}

Result<> PlanExecutor::remove(const Delete& a, ActionResult& result, const kube::Call& call) {
  kube::DeleteOptions options{.uid = a.uid};
  if (a.force) options.grace_seconds = 0;
  auto removed = cluster_.remove(resource_of(a.kind), a.key, options, call);
  result.gone = removed ? a.force : removed.is(Code::kNotFound);
  if (!removed && !result.gone) {  // kConflict: a namesake took its place, as the view will show
    return std::move(removed).error().in("delete " + kind_name(a.kind) + " " + a.key.name);
  }
  result.deleted = &a;
  return Done{};
}

Result<> PlanExecutor::replace(const Replace& a, const kube::Call& call) {
  auto stored = cluster_.update(kinds::kConfigMaps, *a.manifest, {}, call);
  if (!stored) return std::move(stored).error().in("write configmap " + a.key.name);
  observer_.acknowledge(OwnedKind::kConfigMap, *stored);
  return Done{};
}

Result<> PlanExecutor::release(const ReleasePod& a, const kube::Call& call) {
  auto stored = cluster_.patch(
      kinds::kPods, a.key,
      {.body = {{"metadata",
                 {{"uid", a.uid},
                  {"annotations",
                   {{kReleaseAnnotation, a.value}, {kReleasedAtAnnotation, a.stamp}}}}}}},
      {}, call);
  if (stored.is(Code::kNotFound)) return Done{};  // the next pass sees
  if (!stored) return std::move(stored).error().in("release pod " + a.key.name);
  observer_.acknowledge(OwnedKind::kPod, *stored);
  return Done{};
}

Result<> PlanExecutor::patch(const Patch& a, const kube::Call& call) {
  auto stored = cluster_.patch(
      resource_of(a.kind), a.key,
      {.type = a.json_patch ? kube::PatchType::kJson : kube::PatchType::kMerge, .body = *a.body},
      {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("patch " + kind_name(a.kind) + " " + a.key.name);
  observer_.acknowledge(a.kind, *stored);
  return Done{};
}

Result<> PlanExecutor::drop_finalizer(const api::PaddleJob& job, const kube::Call& call) {
  auto left = job.meta.finalizers;
  std::erase(left, kFinalizer);
  auto stored = cluster_.patch(
      kinds::kPaddleJobs, job.meta.key,
      {.body = {{"metadata",
                 {{"resourceVersion", job.meta.resource_version}, {"finalizers", left}}}}},
      {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("drop the finalizer");
  if (!job.meta.deleting()) observer_.acknowledge_job(*stored);
  return Done{};
}

Result<> PlanExecutor::delete_job(const api::PaddleJob& job, const kube::Call& call) {
  auto removed =
      cluster_.remove(kinds::kPaddleJobs, job.meta.key,
                      {.uid = job.meta.uid, .resource_version = job.meta.resource_version}, call);
  if (removed || removed.is(Code::kNotFound)) return Done{};
  return std::move(removed).error().in("delete the job, whose ttlSecondsAfterFinished has passed");
}

Result<> PlanExecutor::set_status(const api::PaddleJobStatus& status, const api::PaddleJob& job,
                                  const kube::Call& call) {
  api::PaddleJob changed = job;
  changed.status = status;
  auto stored = cluster_.update(kinds::kPaddleJobs, api::encode(changed), "status", call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("write status");
  observer_.acknowledge_job(*stored);
  emit_events(status, job);
  return Done{};
}

void PlanExecutor::emit_events(const std::vector<ActionResult>& results, const api::PaddleJob& job,
                               JobCache& cache) {
  std::map<OwnedKind, std::vector<std::string>> created, deleted;
  for (const ActionResult& result : results) {
    if (result.name_conflict && !cache.name_conflict) cache.name_conflict = result.name_conflict;
    if (result.created) created[result.created->kind].push_back(result.created->key.name);
    if (result.created && result.created->kind == OwnedKind::kConfigMap)
      warn_about_ipv6(*result.created, job);
    if (!result.deleted) continue;
    deleted[result.deleted->kind].push_back(result.deleted->key.name);
    if (result.deleted->kind != OwnedKind::kPod) continue;
    (result.gone ? cache.removed : cache.deleted).insert(result.deleted->uid);
  }
  for (const auto& [kind, names] : created) {
    emit(job, EventKind::kNormal, "Created", event_message("created", kind, names));
  }
  for (const auto& [kind, names] : deleted) {
    emit(job, EventKind::kNormal, "Deleted", event_message("deleted", kind, names));
  }
}

// Paddle's launcher does not complain: it takes each worker for a job of its own.
void PlanExecutor::warn_about_ipv6(const Create& map, const api::PaddleJob& job) {
  if (!api::look_text(*map.manifest, "/data/PADDLE_TRAINER_ENDPOINTS").starts_with('[')) return;
  emit(job, EventKind::kWarning, "IPv6Addresses",
       "the pods have addresses of IPv6, which paddle.distributed.launch (3.0 and before) can not "
       "read: each worker would train alone. Give the cluster two families with IPv4 first, or "
       "start the trainers without it");
}

void PlanExecutor::emit_events(const api::PaddleJobStatus& status, const api::PaddleJob& job) {
  const auto* ready = api::find_condition(status.conditions, "Ready");
  const std::string message = ready ? ready->message : status.phase;
  if (status.phase != job.status.phase && finished(status.phase)) {
    emit(job, status.phase == "Failed" ? EventKind::kWarning : EventKind::kNormal,
         status.phase.c_str(), message);
  } else if (status.epoch != job.status.epoch && !job.spec.suspend) {
    const bool wanted =
        status.failures == job.status.failures && status.disruptions == job.status.disruptions;
    emit(job, wanted ? EventKind::kNormal : EventKind::kWarning, "Restarting",
         "the job begins anew: " + message);
  }
  const auto* cold = api::find_condition(status.conditions, "DataWarm");
  if (cold && !api::find_condition(job.status.conditions, "DataWarm")) {
    emit(job, EventKind::kWarning, cold->reason.c_str(), cold->message);
  }
}

}  // namespace paddle::controllers::paddle_job
