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

constexpr const char* kBySet = "sample-set";
constexpr const char* kByOwner = "owner";
constexpr std::chrono::seconds kFirstAnswer{5};  // then a pass goes on without
constexpr std::chrono::seconds kOrphanCheckInterval{30};
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

// Whether a change of a set may let its jobs start or go on: its cache statistics do not.
bool concerns_jobs(const api::SampleSet* before, const api::SampleSet* after) {
  if (spec_changed(before, after)) return true;
  const api::SampleSetStatus& a = before->status;
  const api::SampleSetStatus& b = after->status;
  return a.phase != b.phase || a.engine != b.engine || a.sync.has_value() != b.sync.has_value();
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

WorldObserver::WorldObserver(const ControllerContext& context, const Options& options,
                             const Clock& clock)
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
      clock_(clock),
      poll_interval_(options.config.progress_poll),
      credentials_(context.cluster),
      poller_(
          options.polls, [&queue = context.queue](const ObjectKey& key) { queue.add(key); }, clock,
          !options.config.polls_in_passes),
      requests_(
          options.sends, [&queue = context.queue](const ObjectKey& key) { queue.add(key); },
          clock) {
  using Entries = std::vector<std::string>;
  // Only active jobs: a set may have had thousands of others.
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
  for_spec(jobs_, queue);
  const auto most_waiting = 8 * static_cast<std::size_t>(sent_at_once);
  const auto affected = [jobs = jobs_, most_waiting](const ObjectKey& set) {
    return jobs_to_wake(jobs, set, most_waiting);
  };
  jobs_.on_change([this, &queue, affected](const ObjectKey&, const api::SampleJob* before,
                                           const api::SampleJob* after) {
    if (!concerns_siblings(before, after)) return;
    for (const api::SampleJob* run : {before, after}) {  // a schedule follows its runs
      const auto owner = run ? controlling_key(run->meta, kinds::kSampleJobs) : std::nullopt;
      if (owner) queue.add(*owner);
    }
    const ObjectKey set = sample_set_of(after ? *after : *before);
    for (const ObjectKey& key : affected(set)) queue.add(key);
    if (!after) request_orphan_check(set);
  });
  sets_.on_change([this, &queue, affected](const ObjectKey& set, const api::SampleSet* before,
                                           const api::SampleSet* after) {
    if (!concerns_jobs(before, after)) return;
    if (!after) forget_set(set);
    for (const ObjectKey& key : affected(set)) queue.add(key);
    if (!before) {
      request_orphan_check(set);
    } else {
      queue.add(orphan_check_key(set));
    }
  });
  watches(pods_, queue, [affected](const api::Pod& pod) {
    const auto set = set_of_runtime(pod);
    return set ? affected(*set) : std::vector<ObjectKey>{};
  });
}

// ---- the world of one job ----

Result<std::optional<World>> WorldObserver::observe(const api::SampleJob& job,
                                                    const RejectedRequests& rejected,
                                                    const kube::Call& call) {
  World world;
  world.since_status_write = writes_.since(job.meta.key, clock_.boot());
  if (!job.spec.schedule.empty()) {
    for (const auto& run : jobs_.list(kByOwner, job.meta.uid)) world.runs.push_back(*run);
    return std::optional(std::move(world));
  }
  world.siblings = siblings_of(job);
  if (is_over(job) && job.status.left.empty()) {  // no runtime has anything of it
    poller_.forget(job.meta.key);
    return std::optional(std::move(world));
  }
  if (const auto set = sets_.find(sample_set_of(job))) {
    world.set = *set;
    if (const auto* engine = engine_of(*set)) {
      world.shares_volume = engine->shares_volume();
      if (const auto kind = job_type(job.spec.type).kind) world.refusal = engine->refusal(*kind);
    }
    auto reports = runtime_reports(job, *set, rejected, call);
    if (!reports) return std::optional<World>{};
    world.reports = *std::move(reports);
  }
  if (job.spec.secret && (job.status.job_name.empty() || restarts(job))) {
    const ObjectKey key{job.meta.key.ns, job.spec.secret->name};
    auto secret = cluster_.get(kinds::kSecrets, key, call);
    if (!secret && !secret.is(Code::kNotFound)) return std::move(secret).error();
    world.secret_exists = secret || may_be_missing(*job.spec.secret);
  }
  return std::optional(std::move(world));
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
                        .stalled = ready && ready->reason == reason::kWaitingForRuntimes,
                        .blocked_alone = ready && blocks_only_itself(ready->reason),
                        .terminate = other->spec.terminate});
  }
  return siblings;
}

// A runtime is asked only about a part that it has or had; of the others it counts that they run.
std::optional<std::vector<PartitionReport>> WorldObserver::runtime_reports(
    const api::SampleJob& job, const api::SampleSet& set, const RejectedRequests& rejected,
    const kube::Call& call) {
  const api::SampleJobStatus& status = job.status;
  std::optional<runtime::RuntimeCredentials> access;
  std::string error;
  if (!status.job_name.empty() || !status.left.empty()) {
    auto read = credentials(set, call);
    if (read) access = *read;
    error = !read ? read.error().message
                  : (access ? "" : "the sampleset has no secret for its runtimes yet");
  }
  const auto id_at = [](const std::vector<api::JobPartition>& parts, int partition) {
    const auto part = std::ranges::find(parts, partition, &api::JobPartition::index);
    const bool open = part != parts.end() && !api::partition_state::is_final(part->state);
    return open ? part->id : std::string();
  };
  const auto all = endpoints(set);
  const auto open_part = [&](int partition) {
    return status.job_name.empty() ? "" : id_at(status.partitions, partition);
  };
  const auto polled_id = [&](int partition) {
    const std::string id = open_part(partition);
    return id.empty() ? id_at(status.left, partition) : id;
  };
  std::vector<PolledRuntime> polls;
  for (const RuntimeEndpoint& each : all) {
    const std::string id = polled_id(each.partition);
    if (!id.empty() && access) polls.push_back({each.uid, {each.address, *access, {id}}});
  }
  poller_.watch(job.meta.key, polls, poll_interval_);

  bool waits = false;
  std::vector<PartitionReport> reports;
  for (const RuntimeEndpoint& each : all) {
    PartitionReport report{.partition = each.partition, .node = each.node};
    if (const auto found = rejected.find(each.partition); found != rejected.end()) {
      report = found->second;
    } else if (const std::string id = polled_id(each.partition); !id.empty()) {
      report.error = error;
      const auto answer = access ? poller_.find(job.meta.key, each.uid) : std::nullopt;
      if (access && !answer) {
        waits = true;
        report.error = "it has not answered yet";
      } else if (answer && answer->error) {
        report.error = answer->error->message;
        credentials_.call_failed(set.meta.key, *access, *answer->error);
      } else if (answer && !open_part(each.partition).empty()) {
        if (const auto* known = find_job(*answer, id)) report.job = *known;
      }
    }
    reports.push_back(std::move(report));
  }
  if (waits && !waits_too_long(job.meta.key)) return std::nullopt;
  if (!waits) {
    Lock lock(mutex_);
    waiting_.erase(job.meta.key);
  }
  return reports;
}

bool WorldObserver::waits_too_long(const ObjectKey& job) {
  Lock lock(mutex_);
  const BootTime now = clock_.boot();
  return now - waiting_.try_emplace(job, now).first->second >= kFirstAnswer;
}

void WorldObserver::forget(const ObjectKey& job) {
  poller_.forget(job);
  requests_.forget(job);
  writes_.forget(job);
  Lock lock(mutex_);
  waiting_.erase(job);
}

// ---- runtimes ----

std::vector<RuntimeEndpoint> WorldObserver::endpoints(const api::SampleSet& set) const {
  std::map<std::string, int> partitions;  // by the name of the pod
  for (int i = 0; i < set.spec.effective_partitions(); ++i) {
    partitions.emplace(engine::runtime_pod_name(set, i), i);
  }
  std::vector<RuntimeEndpoint> found;
  for (const auto& pod : pods_.list(kBySet, to_string(set.meta.key))) {
    if (pod->meta.deleting() || pod->ip.empty() || pod->phase != api::PodPhase::kRunning) continue;
    const auto* owner = pod->meta.controller();  // a stranger's pod is not asked for anything
    if (!owner || owner->kind != "StatefulSet" || owner->name != engine::runtime_name(set))
      continue;
    const auto at = partitions.find(pod->meta.key.name);
    if (at == partitions.end()) continue;
    found.push_back({at->second, pod->node, pod->ip, pod->meta.uid});
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

std::optional<Result<>> WorldObserver::send(const ObjectKey& owner, const api::SampleSet& set,
                                            const RuntimeRequest& request,
                                            RuntimeRequests::Ended ended) {
  auto outcome = requests_.send(owner, request, std::move(ended)).outcome;
  if (outcome && !*outcome) {
    credentials_.call_failed(set.meta.key, request.call.access, outcome->error());
  }
  return outcome;
}

std::optional<Result<>> WorldObserver::send(const api::SampleJob& job, const api::SampleSet& set,
                                            int partition, const std::string& id,
                                            std::optional<runtime::JobRequest> request,
                                            const kube::Call& call) {
  const auto access = credentials(set, call);
  const auto all = endpoints(set);
  const auto found = std::ranges::find(all, partition, &RuntimeEndpoint::partition);
  if (!access || !*access || found == all.end()) {
    return Result<>(Error{Code::kNotFound, "the runtime of partition " + std::to_string(partition) +
                                               " is not reachable"});
  }
  return send(
      job.meta.key, set, {found->uid, {found->address, **access, id, std::move(request)}},
      [this, uid = found->uid, key = job.meta.key, job_uid = job.meta.uid, set_key = set.meta.key] {
        poller_.refresh(uid);
        const auto current = jobs_.find(key);
        if (!current || current->meta.uid != job_uid) request_orphan_check(set_key);
      });
}

std::optional<Result<>> WorldObserver::cancel_orphan(const api::SampleSet& set,
                                                     const RuntimeEndpoint& endpoint,
                                                     const runtime::RuntimeCredentials& credentials,
                                                     const std::string& id) {
  auto outcome =
      send(orphan_check_key(set.meta.key), set,
           {endpoint.uid, {.address = endpoint.address, .access = credentials, .id = id}},
           [this, uid = endpoint.uid] { poller_.refresh(uid); });
  if (outcome) (void)was_cancelled(set, endpoint, id);
  return outcome;
}

bool WorldObserver::is_cancelling(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
                                  const std::string& id) const {
  return requests_.is_in_progress(orphan_check_key(set.meta.key), {endpoint.uid, {.id = id}});
}

bool WorldObserver::was_cancelled(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
                                  const std::string& id) {
  const auto outcome = requests_.take(orphan_check_key(set.meta.key), {endpoint.uid, {.id = id}});
  return outcome && *outcome;
}

// ---- orphaned jobs ----

std::vector<WorldObserver::RuntimeJobs> WorldObserver::all_jobs(
    const api::SampleSet& set, const runtime::RuntimeCredentials& credentials) {
  const ObjectKey owner = orphan_check_key(set.meta.key);
  const auto all = endpoints(set);
  std::vector<PolledRuntime> polls;
  for (const RuntimeEndpoint& each : all) {
    polls.push_back({each.uid, {each.address, credentials, {runtime::kAllJobs}}});
  }
  poller_.watch(owner, polls, kOrphanCheckInterval);
  std::vector<RuntimeJobs> found;
  for (const RuntimeEndpoint& each : all) {
    RuntimeJobs of_one{.endpoint = each};
    if (const auto answer = poller_.find(owner, each.uid)) {
      if (answer->error) {
        of_one.jobs = *answer->error;
        credentials_.call_failed(set.meta.key, credentials, *answer->error);
      } else {
        of_one.jobs = answer->report.jobs.value_or(std::vector<runtime::JobReport>{});
      }
    }
    found.push_back(std::move(of_one));
  }
  return found;
}

void WorldObserver::forget_set(const ObjectKey& set) {
  poller_.forget(orphan_check_key(set));
  requests_.forget(orphan_check_key(set));
  credentials_.forget(set);
  Lock lock(mutex_);
  orphan_checks_.forget(set);
}

std::optional<OrphanChecks::Request> WorldObserver::pending_orphan_check(const ObjectKey& set) {
  Lock lock(mutex_);
  return orphan_checks_.pending(set);
}

void WorldObserver::orphan_check_done(const ObjectKey& set, OrphanChecks::Request answered) {
  poller_.forget(orphan_check_key(set));
  Lock lock(mutex_);
  orphan_checks_.done(set, answered);
}

void WorldObserver::request_orphan_check(const ObjectKey& set) {
  {
    Lock lock(mutex_);
    orphan_checks_.request(set);
  }
  queue_.add(orphan_check_key(set));
}

std::optional<ObjectKey> WorldObserver::orphan_check_target(const ObjectKey& key) {
  if (!key.name.starts_with(kSetKey)) return std::nullopt;
  return ObjectKey{key.ns, key.name.substr(kSetKey.size())};
}

}  // namespace paddle::controllers::sample_job
