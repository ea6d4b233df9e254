// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/observe/world_observer.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/loop/sources.h"
#include "controllers/resource_metrics/resource_metrics.h"
#include "controllers/sample_job/decide/preconditions.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/reconciler.h"
#include "controllers/sample_job/spec/job_type.h"
#include "controllers/sample_job/spec/lifecycle.h"
#include "controllers/sample_job/spec/names.h"
#include "engine/names.h"

namespace paddle::controllers::sample_job {
namespace {

using api::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kBySet = "sample-set";  // of jobs: the active ones
constexpr const char* kByOwner = "owner";
constexpr std::string_view kSetKey = "set/";  // no object's name has a slash

ObjectKey orphan_check_key(const ObjectKey& set) {
  return {set.ns, std::string(kSetKey) + set.name};
}

std::optional<ObjectKey> set_of_runtime(const api::Pod& pod) {
  const auto label = pod.meta.labels.find(engine::kSetLabel);
  if (label == pod.meta.labels.end()) return std::nullopt;
  return ObjectKey{pod.meta.key.ns, label->second};
}

// Schedules do nothing themselves.
bool is_active(const api::SampleJob& job) {
  return job.spec.schedule.empty() && !api::sample_job_phase::is_final(job.status.phase) &&
         !job.meta.deleting();
}

// Whether a change may let other jobs of the set start: progress does not.
bool concerns_siblings(const api::SampleJob* before, const api::SampleJob* after) {
  using api::sample_job_phase::is_final;
  return !before || !after || before->status.job_name != after->status.job_name ||
         is_final(before->status.phase) != is_final(after->status.phase) ||
         before->spec.terminate != after->spec.terminate;
}

// The active jobs of a set; of those that wait, only the ones whose turn is near.
std::vector<ObjectKey> jobs_to_wake(const kube::Store<api::SampleJob>& jobs, const ObjectKey& set,
                                    std::size_t most_waiting) {
  std::vector<std::shared_ptr<const api::SampleJob>> waiting;
  std::vector<ObjectKey> keys;
  for (const auto& job : jobs.list(kBySet, to_string(set))) {
    if (job->status.job_name.empty()) {
      waiting.push_back(job);
    } else {
      keys.push_back(job->meta.key);
    }
  }
  std::ranges::sort(waiting, [](const auto& a, const auto& b) {
    return std::tie(a->meta.created, a->meta.key.name) <
           std::tie(b->meta.created, b->meta.key.name);
  });
  if (waiting.size() > most_waiting) waiting.resize(most_waiting);
  for (const auto& job : waiting) keys.push_back(job->meta.key);
  return keys;
}

}  // namespace

WorldObserver::WorldObserver(const ControllerContext& context, const Options& options)
    : cluster_(context.cluster),
      queue_(context.queue),
      engines_(options.engines),
      jobs_(context.informers.of<api::SampleJob>(kinds::kSampleJobs, {.ns = options.ns},
                                                 {"sample-job", api::decode_sample_job})),
      sets_(context.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = options.ns},
                                                 {"sample-set", api::decode_sample_set})),
      pods_(context.informers.of<api::Pod>(kinds::kPods,
                                           {.ns = options.ns, .label_selector = engine::kSetLabel},
                                           {"pod", api::decode_pod})),
      credentials_(context.cluster, options.runtime_at) {
  using Entries = std::vector<std::string>;
  jobs_.add_index(kBySet, [](const api::SampleJob& job) {
    return is_active(job) ? Entries{to_string(sample_set_of(job))} : Entries{};
  });
  jobs_.add_index(kByOwner, [](const api::SampleJob& job) {
    const auto* owner = job.meta.controller();
    return owner ? Entries{owner->uid} : Entries{};
  });
  pods_.add_index(kBySet, [](const api::Pod& pod) {
    const auto set = set_of_runtime(pod);
    return set ? Entries{to_string(*set)} : Entries{};
  });
  subscribe(queue_, options.config.sent_at_once);
  report_metrics(jobs_, SampleJobMetrics(context.metrics));
}

void WorldObserver::subscribe(WorkQueue& queue, int sent_at_once) {
  for_kind(jobs_, queue);
  owns(jobs_, kinds::kSampleJobs, queue);
  const auto most_waiting = static_cast<std::size_t>(8 * sent_at_once);
  const auto affected = [jobs = jobs_, most_waiting](const ObjectKey& set) {
    return jobs_to_wake(jobs, set, most_waiting);
  };
  jobs_.on_change([this, &queue, affected](const ObjectKey&, const api::SampleJob* before,
                                           const api::SampleJob* after) {
    if (!concerns_siblings(before, after)) return;
    const ObjectKey set = sample_set_of(after ? *after : *before);
    for (const ObjectKey& key : affected(set)) queue.add(key);
    if (!after) request_orphan_check(set);
  });
  watches(sets_, queue, [affected](const api::SampleSet& set) {
    auto keys = affected(set.meta.key);
    keys.push_back(orphan_check_key(set.meta.key));
    return keys;
  });
  watches(pods_, queue, [affected](const api::Pod& pod) {
    const auto set = set_of_runtime(pod);
    return set ? affected(*set) : std::vector<ObjectKey>{};
  });
}

// ---- the world of one job ----

Result<World> WorldObserver::observe(const api::SampleJob& job, const RejectedRequests& rejected,
                                     const kube::Call& call) {
  World world;
  if (!job.spec.schedule.empty()) {
    for (const auto& run : jobs_.list(kByOwner, job.meta.uid)) world.runs.push_back(*run);
    return world;
  }
  world.siblings = siblings_of(job);
  if (is_over(job) && job.status.left.empty()) return world;  // no runtime has anything of it
  if (const auto set = sets_.find(sample_set_of(job))) {
    world.set = *set;
    if (const auto* engine = engine_of(*set)) world.shares_volume = engine->shares_volume();
    world.reports = query_runtimes(job, *set, call);
  }
  for (PartitionReport& report : world.reports) {
    const auto found = rejected.find(report.partition);
    if (found != rejected.end()) report = found->second;
  }
  if (job.spec.secret && (job.status.job_name.empty() || restarts(job))) {
    const ObjectKey key{job.meta.key.ns, job.spec.secret->name};
    auto secret = cluster_.get(kinds::kSecrets, key, call);
    if (!secret && !secret.is(Code::kNotFound)) return std::move(secret).error();
    world.secret_exists = secret || may_be_missing(*job.spec.secret);
  }
  return world;
}

std::vector<Sibling> WorldObserver::siblings_of(const api::SampleJob& job) const {
  std::vector<Sibling> siblings;
  for (const auto& other : jobs_.list(kBySet, to_string(sample_set_of(job)))) {
    if (other->meta.key == job.meta.key) continue;
    const auto* ready = api::find_condition(other->status.conditions, condition_type::kReady);
    siblings.push_back({.name = other->meta.key.name,
                        .kind = job_type(other->spec.type).kind,
                        .created = other->meta.created.value_or(WallTime{}),
                        .sent = !other->status.job_name.empty(),
                        .blocked_alone = ready && blocks_only_itself(ready->reason),
                        .terminate = other->spec.terminate});
  }
  return siblings;
}

// A runtime is queried only about a part that it has or had; of the others it counts that they run.
std::vector<PartitionReport> WorldObserver::query_runtimes(const api::SampleJob& job,
                                                           const api::SampleSet& set,
                                                           const kube::Call& call) {
  const api::SampleJobStatus& status = job.status;
  std::vector<PartitionReport> reports;
  std::optional<runtime::RuntimeCredentials> access;
  std::string error;
  if (!status.job_name.empty() || !status.left.empty()) {
    auto read = credentials(set, call);
    if (read) access = *read;
    error = !read ? read.error().message
                  : (access ? "" : "the sampleset has no secret for its runtimes yet");
  }
  for (const RuntimeEndpoint& endpoint : endpoints(set)) {
    PartitionReport report{.partition = endpoint.partition, .node = endpoint.node};
    const auto part =
        std::ranges::find(status.partitions, endpoint.partition, &api::JobPartition::index);
    const bool open =
        part != status.partitions.end() && !api::partition_state::is_final(part->state);
    const auto left = std::ranges::find(status.left, endpoint.partition, &api::JobPartition::index);
    if ((!status.job_name.empty() && open) || left != status.left.end()) {
      report.error = error;
      if (access) {
        auto known = client(set, endpoint, *access)->job(open ? part->id : left->id, call.stop);
        if (known && open) report.job = *std::move(known);
        if (!known && !known.is(Code::kNotFound)) report.error = known.error().message;
      }
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

// ---- runtimes ----

std::vector<RuntimeEndpoint> WorldObserver::endpoints(const api::SampleSet& set) const {
  std::vector<RuntimeEndpoint> found;
  for (const auto& pod : pods_.list(kBySet, to_string(set.meta.key))) {
    if (pod->meta.deleting() || pod->ip.empty() || pod->phase != api::PodPhase::kRunning) continue;
    for (int i = 0; i < set.spec.effective_partitions(); ++i) {
      if (pod->meta.key.name == engine::runtime_pod_name(set, i)) {
        found.push_back({i, pod->node, pod->ip});
      }
    }
  }
  std::ranges::sort(found, {}, &RuntimeEndpoint::partition);
  return found;
}

const engine::ManifestBuilder* WorldObserver::engine_of(const api::SampleSet& set) const {
  for (const auto& engine : engines_) {
    if (engine->name() == set.status.engine) return engine.get();
  }
  return nullptr;
}

Result<std::optional<runtime::RuntimeCredentials>> WorldObserver::credentials(
    const api::SampleSet& set, const kube::Call& call) {
  const engine::ManifestBuilder* engine = engine_of(set);
  return credentials_.get(set, engine && engine->serves_tls(), call);
}

std::unique_ptr<runtime::RuntimeClient> WorldObserver::client(
    const api::SampleSet& set, const RuntimeEndpoint& endpoint,
    const runtime::RuntimeCredentials& credentials) {
  return credentials_.client(set.meta.key, endpoint.address, credentials);
}

std::unique_ptr<runtime::RuntimeClient> WorldObserver::client(const api::SampleSet& set,
                                                              int partition,
                                                              const kube::Call& call) {
  const auto access = credentials(set, call);
  if (!access || !*access) return nullptr;
  for (const RuntimeEndpoint& endpoint : endpoints(set)) {
    if (endpoint.partition == partition) return client(set, endpoint, **access);
  }
  return nullptr;
}

// ---- orphaned jobs ----

bool WorldObserver::needs_orphan_check(const ObjectKey& set) {
  Lock lock(mutex_);
  return !checked_for_orphans_.contains(set);
}

void WorldObserver::orphan_check_done(const ObjectKey& set) {
  Lock lock(mutex_);
  checked_for_orphans_.insert(set);
}

void WorldObserver::request_orphan_check(const ObjectKey& set) {
  {
    Lock lock(mutex_);
    checked_for_orphans_.erase(set);
  }
  queue_.add(orphan_check_key(set));
}

std::optional<ObjectKey> WorldObserver::orphan_check_target(const ObjectKey& key) {
  if (!key.name.starts_with(kSetKey)) return std::nullopt;
  return ObjectKey{key.ns, key.name.substr(kSetKey.size())};
}

}  // namespace paddle::controllers::sample_job
