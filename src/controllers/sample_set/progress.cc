// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/progress.h"

#include <algorithm>
#include <cstdlib>

#include "controllers/sample_set/figures.h"
#include "engine/names.h"

namespace paddle::controllers::sample_sets {
namespace {

using runtime::JobState;

std::string uid8(const api::SampleSet& set) { return set.meta.uid.substr(0, 8); }

const RuntimeSeen* answer_of(const World& world, int partition) {
  const auto found = std::ranges::find(world.answers, partition, &RuntimeSeen::partition);
  return found == world.answers.end() ? nullptr : &*found;
}

// ---- sync ----

enum class SyncState { kNotAsked, kRunning, kDone, kFailed };

struct SyncSeen {
  SyncState state = SyncState::kNotAsked;
  std::string error{};
  std::int64_t files = 0;
};

// One failure is enough; done when every runtime that answers is done, and one at least does.
SyncSeen sync_of(const api::SampleSet& set, const World& world) {
  if (set.spec.no_sync) return {.state = SyncState::kDone};
  if (!set.status.jobs || set.status.jobs->sync.empty()) return {};
  SyncSeen seen{.state = SyncState::kRunning};
  size_t done = 0;
  for (const RuntimeSeen& answer : world.answers) {
    if (!answer.sync) continue;
    seen.files = std::max(seen.files, answer.sync->files_done);
    if (answer.sync->state == JobState::kSucceeded) ++done;
    if (answer.sync->state == JobState::kFailed || answer.sync->state == JobState::kCancelled) {
      return {.state = SyncState::kFailed, .error = answer.sync->error};
    }
  }
  if (done > 0 && done == world.answers.size()) seen.state = SyncState::kDone;
  return seen;
}

// ---- what is there ----

bool bound(const World& world) {
  return world.volume && world.volume->bound && world.claim && world.claim->bound;
}

bool all_serve(const api::SampleSet& set, const World& world) {
  const int wanted = set.spec.effective_partitions();
  if (!world.runtimes || world.runtimes->replicas != wanted || world.runtimes->ready < wanted) {
    return false;
  }
  for (int partition = 0; partition < wanted; ++partition) {
    const RuntimeSeen* answer = answer_of(world, partition);
    if (!answer || !answer->status) return false;
    if (!answer->status->index && !set.spec.no_sync) return false;
  }
  return true;
}

std::string phase_of(const api::SampleSet& set, const World& world, const SyncSeen& sync) {
  if (synced(set.status) || sync.state == SyncState::kDone) {
    if (!bound(world) && !synced(set.status)) return "";
    return all_serve(set, world) ? "Ready" : "PartialReady";
  }
  if (!bound(world)) return "";
  if (!world.runtimes || world.runtimes->ready == 0) return "Bound";
  if (sync.state == SyncState::kFailed) return "SyncFailed";
  const bool asked = std::ranges::any_of(
      world.answers, [](const RuntimeSeen& answer) { return answer.sync.has_value(); });
  return asked ? "Syncing" : "Mount";
}

// ---- conditions ----

api::Condition condition(const api::SampleSet& set, const char* type, const char* status,
                         std::string reason, std::string message) {
  return {.type = type,
          .status = status,
          .reason = std::move(reason),
          .message = std::move(message),
          .observed_generation = set.meta.generation};
}

std::string of_all(int ready, int all) {
  return std::to_string(ready) + " of " + std::to_string(all);
}

// Why the runtimes are not all there, as their pods tell it.
std::string runtime_trouble(const api::SampleSet& set, const World& world) {
  for (const api::Pod* pod : seats(set, world)) {
    if (!pod) continue;
    for (const auto& container : pod->containers) {
      if (container.ready || container.reason.empty()) continue;
      return "; " + pod->meta.key.name + " says " + container.reason +
             ", see kubectl describe pod " + pod->meta.key.name;
    }
    if (!pod->message.empty()) return "; " + pod->meta.key.name + ": " + pod->message;
  }
  const bool served = synced(set.status);  // one that has just started need not answer yet
  for (const RuntimeSeen& answer : world.answers) {
    if (served && !answer.error.empty()) return "; " + answer.error;
  }
  return "";
}

api::Condition ready_condition(const api::SampleSet& set, const World& world,
                               const std::string& phase, const SyncSeen& sync,
                               const Blocker& blocker) {
  const auto no = [&](std::string reason, std::string message) {
    return condition(set, "Ready", "False", std::move(reason), std::move(message));
  };
  if (!blocker.reason.empty()) return no(blocker.reason, blocker.message);
  if (phase == "Ready") {
    return condition(set, "Ready", "True", "Ready", "every runtime serves the samples");
  }
  const int wanted = set.spec.effective_partitions();
  const int ready = world.runtimes ? world.runtimes->ready : 0;
  if (phase == "SyncFailed") {
    return no("SyncFailed", "the source could not be listed: " + sync.error);
  }
  if (phase.empty()) {
    return no("WaitingForVolume", "waiting for the volume " + engine::handle_of(set) +
                                      " and the claim " + engine::claim_name(set) + " to be bound");
  }
  if (phase == "Bound" || phase == "PartialReady") {
    return no("WaitingForRuntimes",
              of_all(ready, wanted) + " runtimes are ready" + runtime_trouble(set, world));
  }
  if (phase == "Mount") return no("WaitingForRuntimes", "the runtimes are being asked to sync");
  return no("Syncing", "listing the source: " + std::to_string(sync.files) + " files so far");
}

api::Condition synced_condition(const api::SampleSet& set, const SyncSeen& sync) {
  switch (sync.state) {
    case SyncState::kDone:
      return condition(set, "Synced", "True", "Published", "the list of samples is published");
    case SyncState::kFailed:
      return condition(set, "Synced", "False", "SyncFailed", sync.error);
    case SyncState::kNotAsked:
    case SyncState::kRunning:
      break;
  }
  return condition(set, "Synced", "Unknown", "Syncing", "the source is being listed");
}

std::optional<api::Condition> warm_condition(const api::SampleSet& set, const World& world) {
  if (!set.status.jobs || set.status.jobs->warmup.empty()) return std::nullopt;
  std::int64_t done = 0, total = 0, failed = 0, no_room = 0;
  bool running = world.answers.empty();
  std::string error;
  for (const RuntimeSeen& answer : world.answers) {
    if (!answer.warmup || !ended(answer.warmup->state)) running = true;
    if (!answer.warmup) continue;
    done += answer.warmup->bytes_done;
    total += answer.warmup->bytes_total;
    failed += answer.warmup->files_failed;
    no_room += answer.warmup->files_no_room;
    if (answer.warmup->state == JobState::kFailed) error = answer.warmup->error;
  }
  if (!error.empty()) return condition(set, "Warm", "False", "WarmupFailed", error);
  if (running) {
    return condition(set, "Warm", "False", "WarmingUp",
                     std::to_string(total > 0 ? 100 * done / total : 0) +
                         " % of the samples are in the cache; reading works meanwhile");
  }
  if (failed > 0) {
    return condition(set, "Warm", "False", "WarmupIncomplete",
                     std::to_string(failed) + " samples could not be read from the source");
  }
  if (no_room > 0) {
    return condition(set, "Warm", "False", "NoRoom",
                     std::to_string(no_room) +
                         " samples do not fit into the cache and are read from the source; give "
                         "spec.cache more room or the set more partitions");
  }
  return condition(set, "Warm", "True", "WarmedUp", "every sample is in the cache");
}

// ---- the rest of the status ----

std::vector<api::PartitionStatus> partitions_of(const api::SampleSet& set, const World& world) {
  std::vector<api::PartitionStatus> all;
  int partition = 0;
  for (const api::Pod* pod : seats(set, world)) {
    api::PartitionStatus one{.index = partition};
    if (pod) one.node = pod->node;
    if (const RuntimeSeen* answer = answer_of(world, partition); answer && answer->status) {
      one.cached_bytes = answer->status->cache.bytes;
      if (answer->status->index) {
        one.total_bytes = answer->status->index->bytes;
        one.ready = true;
      }
    }
    all.push_back(std::move(one));
    ++partition;
  }
  return all;
}

std::optional<api::IndexStatus> index_of(const World& world) {
  for (const RuntimeSeen& answer : world.answers) {
    if (!answer.status || !answer.status->index) continue;
    return api::IndexStatus{.generation = answer.status->index->generation,
                            .digest = answer.status->index->digest};
  }
  return std::nullopt;
}

// The ids of the jobs to come stand here before any runtime hears of them.
void name_jobs(const api::SampleSet& set, const World& world, WallTime now,
               api::SampleSetStatus& status) {
  api::JobsName jobs = status.jobs.value_or(api::JobsName{});
  const bool can_sync = bound(world) && world.runtimes && world.runtimes->ready > 0;
  if (!set.spec.no_sync && can_sync && !synced(status)) {
    if (jobs.sync.empty()) {
      jobs.sync = "sync-" + uid8(set) + "-0";
    } else if (status.phase == "SyncFailed") {
      const auto* failed = api::find_condition(set.status.conditions, "Synced");
      const bool changed = set.status.observed_generation != set.meta.generation;
      const bool waited = failed && failed->status == "False" && failed->last_transition &&
                          now - *failed->last_transition >= retry_delay(jobs.sync);
      if (changed || waited) {
        jobs.sync = "sync-" + uid8(set) + "-" + std::to_string(attempt_of(jobs.sync) + 1);
        status.phase = "Mount";
      }
    }
  }
  const bool warm = synced(status) && set.spec.warms_up_by_itself() && status.index;
  if (warm) {
    jobs.warmup = "warmup-" + uid8(set) + "-" + std::to_string(status.index->generation) + "-" +
                  std::to_string(set.spec.effective_partitions());
  }
  if (jobs != api::JobsName{}) status.jobs = jobs;
}

}  // namespace

bool synced(const api::SampleSetStatus& status) {
  const auto* condition = api::find_condition(status.conditions, "Synced");
  return condition && condition->status == "True";
}

int attempt_of(const std::string& sync_id) {
  const auto dash = sync_id.rfind('-');
  return dash == std::string::npos ? 0 : std::atoi(sync_id.c_str() + dash + 1);
}

std::chrono::seconds retry_delay(const std::string& sync_id) {
  return std::chrono::seconds(10) * (1 << std::clamp(attempt_of(sync_id), 0, 6));
}

std::vector<const api::Pod*> seats(const api::SampleSet& set, const World& world) {
  std::vector<const api::Pod*> found(static_cast<size_t>(set.spec.effective_partitions()));
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string name = engine::runtime_pod_name(set, static_cast<int>(i));
    for (const api::Pod& pod : world.pods) {
      if (pod.meta.key.name == name && !pod.meta.deleting()) found[i] = &pod;
    }
  }
  return found;
}

api::SampleSetStatus observe(const api::SampleSet& set, const World& world,
                             const std::string& engine, const Blocker& blocker, WallTime now) {
  api::SampleSetStatus status = set.status;
  const SyncSeen sync = sync_of(set, world);
  status.phase = phase_of(set, world, sync);
  if (!engine.empty()) status.engine = engine;
  if (world.volume) status.volume_name = world.volume->meta.key.name;

  if (const auto figures = cache_figures(world.answers)) {
    const api::Opaque rest = status.cache ? status.cache->rest : api::Opaque{};
    status.cache = *figures;
    status.cache->rest = rest;
  }
  if (world.runtimes) {
    api::RuntimeStatus runtimes = status.runtime.value_or(api::RuntimeStatus{});
    runtimes.spec_replicas = set.spec.effective_partitions();
    runtimes.ready_replicas = world.runtimes->ready;
    runtimes.runtime_ready =
        std::to_string(runtimes.ready_replicas) + "/" + std::to_string(runtimes.spec_replicas);
    status.runtime = runtimes;
    status.partitions = partitions_of(set, world);
  }
  if (const auto index = index_of(world)) status.index = index;

  if (!synced(status) && (sync.state != SyncState::kNotAsked || set.spec.no_sync)) {
    api::set_condition(status.conditions, synced_condition(set, sync), now);
  }
  api::set_condition(status.conditions, ready_condition(set, world, status.phase, sync, blocker),
                     now);
  name_jobs(set, world, now, status);
  if (auto warm = warm_condition(set, world)) {
    api::set_condition(status.conditions, *std::move(warm), now);
  }
  status.observed_generation = set.meta.generation;
  return status;
}

}  // namespace paddle::controllers::sample_sets
