// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/hand.h"

#include <map>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/match.h"
#include "base/parallel_for.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/progress.h"

namespace paddle::controllers {
namespace {

using api::Json;
using kube::EventKind;
namespace kinds = kube::resources;

constexpr size_t kAtOnce = 16;
constexpr size_t kNamesInAnEvent = 8;

std::string word_for(Child child) {
  switch (child) {
    case Child::kPod:
      return "pod";
    case Child::kService:
      return "service";
    case Child::kConfigMap:
      return "configmap";
    case Child::kPodGroup:
      break;
  }
  return "podgroup";
}

// "created pod a" or "created pods a, b, c" or "created pods a, b, ... and 492 more".
std::string sentence(const std::string& verb, Child child, const std::vector<std::string>& names) {
  std::string text = verb + " " + word_for(child) + (names.size() > 1 ? "s " : " ");
  for (size_t i = 0; i < std::min(names.size(), kNamesInAnEvent); ++i) {
    text += (i ? ", " : "") + names[i];
  }
  if (names.size() > kNamesInAnEvent) {
    text += " and " + std::to_string(names.size() - kNamesInAnEvent) + " more";
  }
  return text;
}

// It is being deleted, or will be: its owner was another job of this one's name.
bool will_go(const api::Meta& namesake, const api::PaddleJob& job) {
  if (namesake.deleting()) return true;
  const auto* owner = namesake.controller();
  return owner && owner->kind == api::PaddleJob::kKind && owner->name == job.meta.key.name &&
         owner->uid != job.meta.uid;
}

}  // namespace

struct Hand::Deed {
  const Create* created = nullptr;
  const Delete* deleted = nullptr;
  bool gone = false;  // for sure
  std::optional<BlockReason> in_the_way{};
};

void Hand::tell(const api::PaddleJob& job, EventKind kind, const char* reason,
                std::string message) {
  events_.event({.api_version = api::PaddleJob::kApiVersion,
                 .kind = api::PaddleJob::kKind,
                 .key = job.meta.key,
                 .uid = job.meta.uid},
                kind, reason, std::move(message));
}

Result<> Hand::carry_out(const Wave& wave, const api::PaddleJob& job, JobMemory& memory,
                         const kube::Call& call) {
  std::vector<Deed> deeds(wave.size());
  memory.in_the_way.reset();
  auto done = parallel_for(wave.size(), kAtOnce,
                           [&](size_t i) { return act(wave[i], job, deeds[i], call); });
  tell_of(deeds, job, memory);
  return done;
}

Result<> Hand::act(const Action& action, const api::PaddleJob& job, Deed& deed,
                   const kube::Call& call) {
  return std::visit(Match{
                        [&](const Create& a) { return create(a, job, deed, call); },
                        [&](const Delete& a) { return remove(a, deed, call); },
                        [&](const Replace& a) { return replace(a, call); },
                        [&](const Release& a) { return release(a, call); },
                        [&](const Patch& a) { return patch(a, call); },
                        [&](const DropFinalizer&) { return drop_finalizer(job, call); },
                        [&](const DeleteJob&) { return delete_job(job, call); },
                    },
                    action);
}

Result<> Hand::create(const Create& a, const api::PaddleJob& job, Deed& deed,
                      const kube::Call& call) {
  auto created = cluster_.create(resource_of(a.child), *a.manifest, call);
  if (created.is(Code::kAlreadyExists)) return adopt(a, job, deed, call);
  if (!created) {
    tell(job, EventKind::kWarning, "Create",
         "create failed " + word_for(a.child) + " " + a.key.name + ": " + created.error().message);
    return std::move(created).error();
  }
  view_.acknowledge(a.child, *created);
  deed.created = &a;
  return Done{};
}

// A namesake: ours when an answer was lost or an older operator made it; else what a job of this
// name left, which goes by itself; else somebody else's.
Result<> Hand::adopt(const Create& a, const api::PaddleJob& job, Deed& deed,
                     const kube::Call& call) {
  const kube::Resource& resource = resource_of(a.child);
  TRY(Json found, cluster_.get(resource, a.key, call));
  TRY(const api::Meta meta, api::decode_meta(found));
  if (!belongs_to(meta, job) && will_go(meta, job)) {
    deed.in_the_way = BlockReason{"NameNotFree", "waiting for the " + resource.kind + " " +
                                                     a.key.name + " of before to be gone"};
    return Error{Code::kAlreadyExists, deed.in_the_way->message};
  }
  if (!belongs_to(meta, job)) {
    const std::string text =
        "a " + resource.kind + " named " + a.key.name +
        " is there already and belongs to somebody else; remove it or rename the job";
    tell(job, EventKind::kWarning, "NameTaken", text);
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
  view_.acknowledge(a.child, found);
  return Done{};
}

Result<> Hand::remove(const Delete& a, Deed& deed, const kube::Call& call) {
  kube::DeleteOptions options{.uid = a.uid};
  if (a.at_once) options.grace_seconds = 0;
  auto removed = cluster_.remove(resource_of(a.child), a.key, options, call);
  deed.gone = removed ? a.at_once : removed.is(Code::kNotFound);
  if (!removed && !deed.gone) {  // kConflict: a namesake took its place, as the view will show
    return std::move(removed).error().in("delete " + word_for(a.child) + " " + a.key.name);
  }
  deed.deleted = &a;
  return Done{};
}

Result<> Hand::replace(const Replace& a, const kube::Call& call) {
  auto stored = cluster_.update(kinds::kConfigMaps, *a.manifest, {}, call);
  if (!stored) return std::move(stored).error().in("write configmap " + a.key.name);
  view_.acknowledge(Child::kConfigMap, *stored);
  return Done{};
}

Result<> Hand::release(const Release& a, const kube::Call& call) {
  auto stored = cluster_.patch(
      kinds::kPods, a.key,
      {.body = {{"metadata",
                 {{"uid", a.uid},
                  {"annotations",
                   {{kReleaseAnnotation, a.value}, {kReleasedAtAnnotation, a.stamp}}}}}}},
      {}, call);
  if (stored.is(Code::kNotFound)) return Done{};  // the next pass sees
  if (!stored) return std::move(stored).error().in("release pod " + a.key.name);
  view_.acknowledge(Child::kPod, *stored);
  return Done{};
}

Result<> Hand::patch(const Patch& a, const kube::Call& call) {
  auto stored = cluster_.patch(
      resource_of(a.child), a.key,
      {.type = a.as_operations ? kube::PatchType::kJson : kube::PatchType::kMerge, .body = *a.body},
      {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("patch " + word_for(a.child) + " " + a.key.name);
  view_.acknowledge(a.child, *stored);
  return Done{};
}

Result<> Hand::drop_finalizer(const api::PaddleJob& job, const kube::Call& call) {
  auto left = job.meta.finalizers;
  std::erase(left, kFinalizer);
  auto stored = cluster_.patch(
      kinds::kPaddleJobs, job.meta.key,
      {.body = {{"metadata",
                 {{"resourceVersion", job.meta.resource_version}, {"finalizers", left}}}}},
      {}, call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("drop the finalizer");
  if (!job.meta.deleting()) view_.acknowledge_job(*stored);
  return Done{};
}

Result<> Hand::delete_job(const api::PaddleJob& job, const kube::Call& call) {
  auto removed =
      cluster_.remove(kinds::kPaddleJobs, job.meta.key,
                      {.uid = job.meta.uid, .resource_version = job.meta.resource_version}, call);
  if (removed || removed.is(Code::kNotFound)) return Done{};
  return std::move(removed).error().in("delete the job, whose ttlSecondsAfterFinished has passed");
}

Result<> Hand::set_status(const api::PaddleJobStatus& status, const api::PaddleJob& job,
                          const kube::Call& call) {
  api::PaddleJob changed = job;
  changed.status = status;
  auto stored = cluster_.update(kinds::kPaddleJobs, api::encode(changed), "status", call);
  if (stored.is(Code::kNotFound)) return Done{};
  if (!stored) return std::move(stored).error().in("write status");
  view_.acknowledge_job(*stored);
  tell_of(status, job);
  return Done{};
}

void Hand::tell_of(const std::vector<Deed>& deeds, const api::PaddleJob& job, JobMemory& memory) {
  std::map<Child, std::vector<std::string>> created, deleted;
  for (const Deed& deed : deeds) {
    if (deed.in_the_way && !memory.in_the_way) memory.in_the_way = deed.in_the_way;
    if (deed.created) created[deed.created->child].push_back(deed.created->key.name);
    if (deed.created && deed.created->child == Child::kConfigMap) warn_of_ipv6(*deed.created, job);
    if (!deed.deleted) continue;
    deleted[deed.deleted->child].push_back(deed.deleted->key.name);
    if (deed.deleted->child != Child::kPod) continue;
    (deed.gone ? memory.removed : memory.deleted).insert(deed.deleted->uid);
  }
  for (const auto& [child, names] : created) {
    tell(job, EventKind::kNormal, "Created", sentence("created", child, names));
  }
  for (const auto& [child, names] : deleted) {
    tell(job, EventKind::kNormal, "Deleted", sentence("deleted", child, names));
  }
}

// Paddle's launcher does not complain: it takes each worker for a job of its own.
void Hand::warn_of_ipv6(const Create& map, const api::PaddleJob& job) {
  if (!api::look_text(*map.manifest, "/data/PADDLE_TRAINER_ENDPOINTS").starts_with('[')) return;
  tell(job, EventKind::kWarning, "IPv6Addresses",
       "the pods have addresses of IPv6, which paddle.distributed.launch (3.0 and before) can not "
       "read: each worker would train alone. Give the cluster two families with IPv4 first, or "
       "start the trainers without it");
}

void Hand::tell_of(const api::PaddleJobStatus& status, const api::PaddleJob& job) {
  const auto* ready = api::find_condition(status.conditions, "Ready");
  const std::string message = ready ? ready->message : status.phase;
  if (status.phase != job.status.phase && finished(status.phase)) {
    tell(job, status.phase == "Failed" ? EventKind::kWarning : EventKind::kNormal,
         status.phase.c_str(), message);
  } else if (status.epoch != job.status.epoch && !job.spec.suspend) {
    const bool wanted =
        status.failures == job.status.failures && status.disruptions == job.status.disruptions;
    tell(job, wanted ? EventKind::kNormal : EventKind::kWarning, "Restarting",
         "the job begins anew: " + message);
  }
  const auto* cold = api::find_condition(status.conditions, "DataWarm");
  if (cold && !api::find_condition(job.status.conditions, "DataWarm")) {
    tell(job, EventKind::kWarning, cold->reason.c_str(), cold->message);
  }
}

}  // namespace paddle::controllers
