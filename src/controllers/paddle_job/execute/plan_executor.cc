// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/execute/plan_executor.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/log.h"
#include "base/match.h"
#include "base/parallel_for.h"
#include "controllers/paddle_job/decide/status.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/observe/elastic_store.h"
#include "controllers/paddle_job/reasons.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;
namespace kinds = kube::resources;

constexpr size_t kNamesPerEvent = 8;

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
  for (size_t i = 0; i < std::min(names.size(), kNamesPerEvent); ++i) {
    text += (i ? ", " : "") + names[i];
  }
  if (names.size() > kNamesPerEvent) {
    text += " and " + std::to_string(names.size() - kNamesPerEvent) + " more";
  }
  return text;
}

// The object is being deleted, or will be: its owner was an earlier job of the same name.
bool is_leftover(const api::Meta& object, const api::PaddleJob& job) {
  if (object.deleting()) return true;
  const auto* owner = object.controller();
  return owner && owner->kind == api::PaddleJob::kKind && owner->name == job.meta.key.name &&
         owner->uid != job.meta.uid;
}

// Failures that a user can do something about, and therefore has to know.
std::optional<BlockReason> trouble_of(const Error& error) {
  switch (error.code) {
    case Code::kForbidden:
      return BlockReason{reasons::kRefused, error.message};
    case Code::kInvalid:
      return BlockReason{reasons::kInvalidObject, error.message};
    case Code::kAlreadyExists:
      return BlockReason{reasons::kNameTaken, error.message};
    case Code::kInternal:  // for example, a webhook that cannot be called
      return BlockReason{reasons::kServerError, error.message};
    default:
      return std::nullopt;
  }
}

EmitEvent delete_failed(const std::string& object, const Error& error) {
  return {true, reasons::kDeleteFailed, "delete failed " + object + ": " + error.message};
}

// Whether every `test` operation of a JSON patch (RFC 6902) holds for the object.
bool tests_hold(const Json& patch, const Json& object) {
  return std::ranges::all_of(patch, [&](const Json& operation) {
    if (api::look_text(operation, "op") != "test") return true;
    const std::string path = api::look_text(operation, "path");
    return api::look(object, path.c_str()) == api::look(operation, "value");
  });
}

// Paddle's launcher does not report it: each worker would train as a job of its own.
bool has_ipv6_peers(const Create& action) {
  return action.kind == OwnedKind::kConfigMap &&
         api::look_text(*action.manifest, "/data/PADDLE_TRAINER_ENDPOINTS").starts_with('[');
}

}  // namespace

struct PlanExecutor::ActionResult {
  const Create* created = nullptr;
  const Delete* deleted = nullptr;
  bool gone = false;                      // the deleted object no longer exists
  std::optional<BlockReason> conflict{};  // a namesake that will go by itself
};

Result<> PlanExecutor::execute(const Plan& plan, const api::PaddleJob& job, Pass& pass) {
  for (const Wave& wave : plan.waves) CHECK_DONE(execute_wave(wave, job, pass));
  return Done{};
}

Result<> PlanExecutor::execute_wave(const Wave& wave, const api::PaddleJob& job, Pass& pass) {
  std::vector<ActionResult> results(wave.size());
  // After a failure no further action starts; the first failure is the result.
  auto done = parallel_for(wave.size(), parallel_actions_, [&](size_t i) {
    return execute_action(wave[i], job, pass, results[i]);
  });
  record(results, job, pass);
  if (done) return done;
  pass.trouble = trouble_of(done.error());
  if (done.is(Code::kAlreadyExists)) {
    for (const ActionResult& result : results) {
      if (!result.conflict) continue;
      pass.trouble = result.conflict;
      break;
    }
  }
  return done;
}

// Called from several threads. The actions for etcd, which change `pass`, are alone in their waves.
Result<> PlanExecutor::execute_action(const Action& action, const api::PaddleJob& job, Pass& pass,
                                      ActionResult& result) {
  return std::visit(Match{
                        [&](const Create& a) { return create(a, job, pass, result); },
                        [&](const Delete& a) { return remove(a, job, pass, result); },
                        [&](const Replace& a) { return replace(a, pass); },
                        [&](const ReleasePod& a) { return release(a, pass); },
                        [&](const Patch& a) { return patch(a, pass); },
                        [&](const SuspendForQueue&) { return suspend_for_queue(job, pass); },
                        [&](const RemoveFinalizer&) { return remove_finalizer(job, pass); },
                        [&](const SetHostPortAnnotation& a) { return set_host_port(a, job, pass); },
                        [&](const DeleteJob&) { return delete_job(job, pass); },
                        [&](const WriteElasticReplicas& a) -> Result<> {
                          write_elastic_replicas(a, job, pass);
                          return Done{};
                        },
                        [&](const CleanElasticState&) -> Result<> {
                          clean_elastic_state(job, pass);
                          return Done{};
                        },
                        [&](const ForgetElasticState&) -> Result<> {
                          forget_elastic_state(job.meta.key, pass.cache, pass.call.stop);
                          return Done{};
                        },
                    },
                    action);
}

// ---- the API server ----

Result<> PlanExecutor::create(const Create& a, const api::PaddleJob& job, Pass& pass,
                              ActionResult& result) {
  auto created = cluster_.create(resource_of(a.kind), *a.manifest, pass.call);
  if (created.is(Code::kAlreadyExists)) return adopt(a, job, pass, result);
  if (!created) {
    emit(job, {true, reasons::kCreateFailed,
               "create failed " + kind_name(a.kind) + " " + a.key.name + ": " +
                   created.error().message});
    return std::move(created).error();
  }
  observer_.acknowledge(a.kind, *created);
  result.created = &a;
  return Done{};
}

// An object of this name exists. It is ours when the answer to its creation was lost or an older
// operator created it; an object of an earlier job of this name will go by itself; any other
// belongs to another owner.
Result<> PlanExecutor::adopt(const Create& a, const api::PaddleJob& job, Pass& pass,
                             ActionResult& result) {
  const kube::Resource& resource = resource_of(a.kind);
  TRY(Json found, cluster_.get(resource, a.key, pass.call));
  TRY(const api::Meta meta, api::decode_meta(found));
  if (!belongs_to(meta, job) && is_leftover(meta, job)) {
    result.conflict =
        BlockReason{reasons::kNameNotFree, "waiting for the " + resource.kind + " " + a.key.name +
                                               " of an earlier job to be deleted"};
    return Error{Code::kAlreadyExists, result.conflict->message};
  }
  if (!belongs_to(meta, job)) {
    const std::string text =
        "a " + resource.kind + " named " + a.key.name +
        " already exists and does not belong to this job; delete it or rename the job";
    emit(job, {true, reasons::kNameTaken, text});
    return Error{Code::kAlreadyExists, text};
  }
  if (!meta.labels.contains(kJobNameLabel)) {  // without it our informers do not show the object
    auto labelled = label(a.kind, std::move(found), job, pass);
    if (!labelled) return std::move(labelled).error().in("label " + a.key.name);
    found = *std::move(labelled);
  }
  observer_.acknowledge(a.kind, found);
  return Done{};
}

// A ConfigMap is updated, as replace() does: the manager has no right to patch ConfigMaps.
Result<Json> PlanExecutor::label(OwnedKind kind, Json found, const api::PaddleJob& job,
                                 Pass& pass) {
  const std::string& name = job.meta.key.name;
  if (kind == OwnedKind::kConfigMap) {
    found["metadata"]["labels"][kJobNameLabel] = name;
    return cluster_.update(kinds::kConfigMaps, found, {}, pass.call);
  }
  TRY(const api::Meta meta, api::decode_meta(found));
  return cluster_.patch(
      resource_of(kind), meta.key,
      {.body = {{"metadata", {{"uid", meta.uid}, {"labels", {{kJobNameLabel, name}}}}}}}, {},
      pass.call);
}

Result<> PlanExecutor::remove(const Delete& a, const api::PaddleJob& job, Pass& pass,
                              ActionResult& result) {
  kube::DeleteOptions options{.uid = a.uid};
  if (a.force) options.grace_seconds = 0;
  auto removed = cluster_.remove(resource_of(a.kind), a.key, options, pass.call);
  result.gone = removed ? a.force : removed.is(Code::kNotFound);
  if (!removed && !result.gone) {
    const std::string object = kind_name(a.kind) + " " + a.key.name;
    // kConflict: a namesake has replaced it, as the informer will show.
    if (!removed.is(Code::kConflict)) emit(job, delete_failed(object, removed.error()));
    return std::move(removed).error().in("delete " + object);
  }
  result.deleted = &a;
  return Done{};
}

Result<> PlanExecutor::replace(const Replace& a, Pass& pass) {
  auto stored = cluster_.update(kinds::kConfigMaps, *a.manifest, {}, pass.call);
  if (!stored) return std::move(stored).error().in("write configmap " + a.key.name);
  observer_.acknowledge(OwnedKind::kConfigMap, *stored);
  return Done{};
}

Result<> PlanExecutor::release(const ReleasePod& a, Pass& pass) {
  auto stored = cluster_.patch(
      kinds::kPods, a.key,
      {.body = {{"metadata",
                 {{"uid", a.uid},
                  {"annotations",
                   {{kReleaseAnnotation, a.value}, {kReleasedAtAnnotation, a.stamp}}}}}}},
      {}, pass.call);
  if (stored.is(Code::kNotFound)) return Done{};  // the next plan sees it
  if (!stored) return std::move(stored).error().in("release pod " + a.key.name);
  observer_.acknowledge(OwnedKind::kPod, *stored);
  return Done{};
}

Result<> PlanExecutor::patch(const Patch& a, Pass& pass) {
  const auto type = a.json_patch ? kube::PatchType::kJson : kube::PatchType::kMerge;
  auto stored =
      cluster_.patch(resource_of(a.kind), a.key, {.type = type, .body = *a.body}, {}, pass.call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (stored.is(Code::kInvalid) && a.json_patch) {
    TRY(const bool outdated, is_outdated(a, pass));
    if (outdated) return Done{};
  }
  if (!stored) return std::move(stored).error().in("patch " + kind_name(a.kind) + " " + a.key.name);
  observer_.acknowledge(a.kind, *stored);
  return Done{};
}

// The server rejects a JSON patch whose `test` fails as it rejects an invalid one. In the first
// case the object has changed since the plan was made: the next plan is for the object as it is.
Result<bool> PlanExecutor::is_outdated(const Patch& a, Pass& pass) {
  auto found = cluster_.get(resource_of(a.kind), a.key, pass.call);
  if (found.is(Code::kNotFound)) return true;
  if (!found) return std::move(found).error().in("read " + kind_name(a.kind) + " " + a.key.name);
  observer_.acknowledge(a.kind, *found);
  return !tests_hold(*a.body, *found);
}

Result<> PlanExecutor::set_host_port(const SetHostPortAnnotation& a, const api::PaddleJob& job,
                                     Pass& pass) {
  const Json value = a.port > 0 ? Json(std::to_string(a.port)) : Json();
  const kube::Patch patch{
      .body = {
          {"metadata", {{"uid", job.meta.uid}, {"annotations", {{kHostPortAnnotation, value}}}}}}};
  auto stored = cluster_.patch(kinds::kPaddleJobs, job.meta.key, patch, {}, pass.call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("write the annotation host-port");
  observer_.acknowledge_job(*stored);
  return Done{};
}

// With the resourceVersion: a job that was resumed meanwhile is not suspended.
Result<> PlanExecutor::suspend_for_queue(const api::PaddleJob& job, Pass& pass) {
  const kube::Patch patch{.body = {{"metadata",
                                    {{"uid", job.meta.uid},
                                     {"resourceVersion", job.meta.resource_version},
                                     {"annotations", {{kQueuedAnnotation, "true"}}}}},
                                   {"spec", {{"suspend", true}}}}};
  auto stored = cluster_.patch(kinds::kPaddleJobs, job.meta.key, patch, {}, pass.call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("suspend the job until its queue admits it");
  observer_.acknowledge_job(*stored);
  return Done{};
}

Result<> PlanExecutor::remove_finalizer(const api::PaddleJob& job, Pass& pass) {
  TRY(const auto stored,
      writer_.remove_finalizer(kinds::kPaddleJobs, job.meta, kFinalizer, pass.call));
  if (stored) observer_.acknowledge_job(*stored);
  return Done{};
}

Result<> PlanExecutor::delete_job(const api::PaddleJob& job, Pass& pass) {
  const kube::DeleteOptions options{.uid = job.meta.uid,
                                    .resource_version = job.meta.resource_version};
  auto removed = cluster_.remove(kinds::kPaddleJobs, job.meta.key, options, pass.call);
  if (removed || removed.is(Code::kNotFound)) return Done{};
  if (!removed.is(Code::kConflict)) {
    emit(job, delete_failed("paddlejob " + job.meta.key.name, removed.error()));
  }
  return std::move(removed).error().in("delete the job, whose ttlSecondsAfterFinished has passed");
}

Result<> PlanExecutor::write_status(const api::PaddleJobStatus& status, const api::PaddleJob& job,
                                    Pass& pass) {
  api::PaddleJob changed = job;
  changed.status = status;
  TRY(const auto stored, writer_.write_status(kinds::kPaddleJobs, api::encode(changed), pass.call));
  if (stored) {
    observer_.acknowledge_job(*stored);
    for (const EmitEvent& event : status_events(job, status)) emit(job, event);
  }
  pass.cache.status_pending_since.reset();
  return Done{};
}

// ---- etcd ----

void PlanExecutor::write_elastic_replicas(const WriteElasticReplicas& a, const api::PaddleJob& job,
                                          Pass& pass) {
  auto written =
      paddle_job::write_elastic_replicas(*etcd_, job.meta.key, a.value, a.revision, pass.call.stop);
  if (!written) {
    return pass.fail_etcd(std::move(written).error().in("write the number of trainers to etcd"));
  }
  pass.elastic_replicas = StoredReplicas{.value = a.value};
  if (a.event) emit(job, *a.event);
}

void PlanExecutor::clean_elastic_state(const api::PaddleJob& job, Pass& pass) {
  auto removed = remove_elastic_keys(*etcd_, job.meta.key, pass.call.stop);
  if (!removed) return pass.fail_etcd(std::move(removed).error().in("remove old keys from etcd"));
  pass.cache.etcd_cleaned_uid = job.meta.uid;
  pass.etcd_cleaned = true;
}

void PlanExecutor::forget_elastic_state(const api::ObjectKey& job, JobCache& cache,
                                        std::stop_token stop) {
  // The other job removes what this one left before its first pods.
  if (observer_.shares_elastic_id(job)) {
    log::info("the keys of an ended job stay in etcd: another job has the same id",
              {{"paddlejob", to_string(job)}});
  } else if (auto removed = remove_elastic_keys(*etcd_, job, stop); !removed) {
    log::warn("cannot remove the keys of an ended job from etcd",
              {{"paddlejob", to_string(job)}, {"error", removed.error().message}});
  }
  cache.has_etcd_keys = false;
  cache.etcd_in_use_uid.clear();
}

// ---- results ----

void PlanExecutor::record(const std::vector<ActionResult>& results, const api::PaddleJob& job,
                          Pass& pass) {
  std::map<OwnedKind, std::vector<std::string>> created, deleted;
  for (const ActionResult& result : results) {
    if (result.created) {
      created[result.created->kind].push_back(result.created->key.name);
      if (has_ipv6_peers(*result.created)) {
        emit(job, {true, reasons::kIpv6Addresses,
                   "the pods have IPv6 addresses, which paddle.distributed.launch (3.0 and "
                   "earlier) cannot parse: each worker would train alone. Use a dual-stack "
                   "cluster with IPv4 first, or start the trainers without the launcher"});
      }
    }
    if (!result.deleted) continue;
    deleted[result.deleted->kind].push_back(result.deleted->key.name);
    if (result.deleted->kind != OwnedKind::kPod) continue;
    (result.gone ? pass.cache.removed : pass.cache.deleted).insert(result.deleted->uid);
  }
  for (const auto& [kind, names] : created) {
    emit(job, {false, reasons::kCreated, event_message("created", kind, names)});
  }
  for (const auto& [kind, names] : deleted) {
    emit(job, {false, reasons::kDeleted, event_message("deleted", kind, names)});
  }
}

void PlanExecutor::emit(const api::PaddleJob& job, const EmitEvent& event) {
  writer_.emit(kinds::kPaddleJobs, job.meta, event);
}

}  // namespace paddle::controllers::paddle_job
