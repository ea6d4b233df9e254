// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/reconciler.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/match.h"
#include "controllers/loop/sources.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/progress.h"
#include "controllers/paddle_job/rendezvous.h"
#include "kube/informer/store.h"

namespace paddle::controllers {
namespace {

using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kByOwner = "controller-uid";
constexpr const char* kBySampleSet = "sample-set";

Result<RendezvousMap> decode_map(const Json& object) {
  RendezvousMap map;
  TRY(map.meta, api::decode_meta(object));
  if (const auto data = object.find("data"); data != object.end() && data->is_object()) {
    for (const auto& [key, value] : data->items()) {
      if (value.is_string()) map.data[key] = value.get<std::string>();
    }
  }
  return map;
}

template <typename T>
std::vector<std::string> controller_uid(const T& object) {
  const auto* owner = object.meta.controller();
  return owner ? std::vector{owner->uid} : std::vector<std::string>{};
}

std::string sample_set_key(const ObjectKey& key) { return key.ns + "/" + key.name; }

class PaddleJobReconciler {
 public:
  PaddleJobReconciler(const Surroundings& around, const PaddleJobOptions& options,
                      const Clock& clock)
      : cluster_(around.cluster),
        events_(around.events),
        clock_(clock),
        jobs_(around.informers.of<api::PaddleJob>(kinds::kPaddleJobs, {.ns = options.ns},
                                                  {"paddle-job", api::decode_paddle_job})),
        // Only what carries our label: other people's pods are none of our memory's business.
        pods_(around.informers.of<api::Pod>(kinds::kPods,
                                            {.ns = options.ns, .label_selector = kJobNameLabel},
                                            {"pod", api::decode_pod})),
        maps_(around.informers.of<RendezvousMap>(
            kinds::kConfigMaps, {.ns = options.ns, .label_selector = kJobNameLabel},
            {"rendezvous", decode_map})),
        sets_(around.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = options.ns},
                                                  {"sample-set", api::decode_sample_set})) {
    pods_.add_index(kByOwner, controller_uid<api::Pod>);
    jobs_.add_index(kBySampleSet, [](const api::PaddleJob& job) {
      if (!job.spec.sample_set) return std::vector<std::string>{};
      return std::vector{sample_set_key({job.meta.key.ns, job.spec.sample_set->name})};
    });
    for_kind(jobs_, around.queue);
    owns(pods_, kinds::kPaddleJobs, around.queue);
    owns(maps_, kinds::kPaddleJobs, around.queue);
    watches(sets_, around.queue, [jobs = jobs_](const api::SampleSet& set) {
      std::vector<ObjectKey> keys;
      for (const auto& job : jobs.list(kBySampleSet, sample_set_key(set.meta.key))) {
        keys.push_back(job->meta.key);
      }
      return keys;
    });
  }

  Result<Outcome> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto job = jobs_.find(key);
    if (!job) return Outcome{};  // deleted since it was queued
    for (const Action& action : desired(*job, world_of(*job), clock_.wall())) {
      if (auto done = carry_out(action, *job, {.stop = stop}); !done) {
        return std::move(done).error().in("paddlejob " + to_string(key));
      }
    }
    return Outcome{};
  }

 private:
  World world_of(const api::PaddleJob& job) const {
    World world;
    for (const auto& pod : pods_.list(kByOwner, job.meta.uid)) world.pods.push_back(*pod);
    if (const auto map = maps_.find(job.meta.key)) {
      const auto* owner = map->meta.controller();
      if (owner && owner->uid == job.meta.uid) world.rendezvous = *map;
    }
    if (job.spec.sample_set) {
      if (const auto set = sets_.find({job.meta.key.ns, job.spec.sample_set->name})) {
        world.sample_set = *set;
      }
    }
    return world;
  }

  kube::ObjectRef ref_of(const api::PaddleJob& job) const {
    return {.api_version = api::PaddleJob::kApiVersion,
            .kind = api::PaddleJob::kKind,
            .key = job.meta.key,
            .uid = job.meta.uid};
  }
  void tell(const api::PaddleJob& job, kube::EventKind kind, const char* reason,
            std::string message) {
    events_.event(ref_of(job), kind, reason, std::move(message));
  }

  Result<> carry_out(const Action& action, const api::PaddleJob& job, const kube::Call& call) {
    return std::visit(Match{
                          [&](const CreatePod& a) { return create_pod(a, job, call); },
                          [&](const DeletePod& a) { return delete_pod(a, job, call); },
                          [&](const PutRendezvous& a) { return put_rendezvous(a, job, call); },
                          [&](const ReleasePod& a) { return release(a, call); },
                          [&](const SetStatus& a) { return set_status(a, job, call); },
                          [&](const DropFinalizer&) { return drop_finalizer(job, call); },
                      },
                      action);
  }

  Result<> create_pod(const CreatePod& a, const api::PaddleJob& job, const kube::Call& call) {
    auto created = cluster_.create(kinds::kPods, *a.pod, call);
    if (created.is(Code::kAlreadyExists)) return adopt(kinds::kPods, a.key, job, call);
    if (!created) {
      tell(job, kube::EventKind::kWarning, "Create",
           "create failed pod " + a.key.name + ": " + created.error().message);
      return std::move(created).error().in("create pod " + a.key.name);
    }
    pods_.acknowledge(*created);
    tell(job, kube::EventKind::kNormal, "Created", "created pod " + a.key.name);
    return Done{};
  }

  // A namesake: ours when an answer was lost, somebody else's otherwise.
  Result<> adopt(const kube::Resource& resource, const ObjectKey& key, const api::PaddleJob& job,
                 const kube::Call& call) {
    TRY(const Json found, cluster_.get(resource, key, call));
    TRY(const api::Meta meta, api::decode_meta(found));
    const auto* owner = meta.controller();
    if (owner && owner->uid == job.meta.uid) {
      if (resource == kinds::kPods) pods_.acknowledge(found);
      if (resource == kinds::kConfigMaps) maps_.acknowledge(found);
      return Done{};
    }
    const std::string text =
        "a " + resource.kind + " named " + key.name +
        " is there already and belongs to somebody else; remove it or rename the job";
    tell(job, kube::EventKind::kWarning, "NameTaken", text);
    return Error{Code::kConflict, text};
  }

  Result<> delete_pod(const DeletePod& a, const api::PaddleJob& job, const kube::Call& call) {
    auto removed = cluster_.remove(kinds::kPods, a.key, {.uid = a.uid}, call);
    // Gone, or a namesake took its place: either way this one is not there any more.
    if (removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
    if (!removed) return std::move(removed).error().in("delete pod " + a.key.name);
    tell(job, kube::EventKind::kNormal, "Deleted", "deleted pod " + a.key.name);
    return Done{};
  }

  Result<> put_rendezvous(const PutRendezvous& a, const api::PaddleJob& job,
                          const kube::Call& call) {
    Json object = rendezvous_map(job, a.data);
    if (!a.replaces.empty()) object["metadata"]["resourceVersion"] = a.replaces;
    auto stored = a.replaces.empty() ? cluster_.create(kinds::kConfigMaps, object, call)
                                     : cluster_.update(kinds::kConfigMaps, object, {}, call);
    if (stored.is(Code::kAlreadyExists)) return adopt(kinds::kConfigMaps, job.meta.key, job, call);
    if (!stored) return std::move(stored).error().in("write configmap " + job.meta.key.name);
    maps_.acknowledge(*stored);
    return Done{};
  }

  Result<> release(const ReleasePod& a, const kube::Call& call) {
    const kube::Patch patch{
        .body = {{"metadata", {{"uid", a.uid}, {"annotations", {{kReleaseAnnotation, a.value}}}}}}};
    auto stored = cluster_.patch(kinds::kPods, a.key, patch, {}, call);
    if (stored.is(Code::kNotFound) || stored.is(Code::kConflict))
      return Done{};  // the next pass sees
    if (!stored) return std::move(stored).error().in("release pod " + a.key.name);
    pods_.acknowledge(*stored);
    return Done{};
  }

  Result<> set_status(const SetStatus& a, const api::PaddleJob& job, const kube::Call& call) {
    api::PaddleJob changed = job;
    changed.status = a.status;
    auto stored = cluster_.update(kinds::kPaddleJobs, api::encode(changed), "status", call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("write status");
    jobs_.acknowledge(*stored);
    if (a.status.phase != job.status.phase && finished(a.status.phase)) {
      const auto* ready = api::find_condition(a.status.conditions, "Ready");
      tell(job, a.status.phase == "Failed" ? kube::EventKind::kWarning : kube::EventKind::kNormal,
           a.status.phase.c_str(), ready ? ready->message : a.status.phase);
    }
    return Done{};
  }

  Result<> drop_finalizer(const api::PaddleJob& job, const kube::Call& call) {
    auto left = job.meta.finalizers;
    std::erase(left, kFinalizer);
    const kube::Patch patch{
        .body = {
            {"metadata", {{"resourceVersion", job.meta.resource_version}, {"finalizers", left}}}}};
    auto stored = cluster_.patch(kinds::kPaddleJobs, job.meta.key, patch, {}, call);
    if (stored || stored.is(Code::kNotFound)) return Done{};
    return std::move(stored).error().in("drop the finalizer");
  }

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  kube::Store<api::PaddleJob> jobs_;
  kube::Store<api::Pod> pods_;
  kube::Store<RendezvousMap> maps_;
  kube::Store<api::SampleSet> sets_;
};

}  // namespace

Reconcile make_paddle_job_reconciler(const Surroundings& around, const PaddleJobOptions& options,
                                     const Clock& clock) {
  auto reconciler = std::make_shared<PaddleJobReconciler>(around, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers
