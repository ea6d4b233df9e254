// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/conditions.h"

#include <algorithm>

#include "base/units.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "controllers/sample_set/decide/engine_choice.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/volume_preparation.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

api::Condition condition(const api::SampleSet& set, const char* type, const char* status,
                         std::string reason, std::string message) {
  return {.type = type,
          .status = status,
          .reason = std::move(reason),
          .message = std::move(message),
          .observed_generation = set.meta.generation};
}

std::string number_of(int ready, int all) {
  return std::to_string(ready) + " of " + std::to_string(all);
}

// Why the runtimes are not all there, as their pods tell it.
std::string runtime_problem(const api::SampleSet& set, const World& world) {
  for (const api::Pod* pod : runtime_pods(set, world)) {
    if (!pod) continue;
    const std::string& name = pod->meta.key.name;
    if (!pod->unschedulable.empty()) return "; " + name + ": " + pod->unschedulable;
    for (const auto& container : pod->containers) {
      if (container.ready || container.reason.empty()) continue;
      return "; " + name + " says " + container.reason + ", see kubectl describe pod " + name;
    }
    if (!pod->message.empty()) return "; " + name + ": " + pod->message;
  }
  const bool served = synced(set.status);  // one that has just started need not answer yet
  for (const RuntimeReport& answer : world.runtime_reports) {
    if (served && !answer.error.empty()) return "; " + answer.error;
  }
  return "";
}

std::string remark_of(const World& world) {
  for (const RuntimeReport& answer : world.runtime_reports) {
    if (answer.status && !answer.status->remark.empty()) return "; " + answer.status->remark;
  }
  return "";
}

struct Coverage {
  std::int64_t total = 0;
  std::int64_t cached = 0;
};
Coverage coverage_of(const api::SampleSetStatus& status) {
  Coverage sum;
  for (const auto& partition : status.partitions) {
    sum.total += partition.total_bytes;
    sum.cached += std::min(partition.cached_bytes, partition.total_bytes);
  }
  return sum;
}

std::string percent(const Coverage& of) {
  return std::to_string(of.total > 0 ? 100 * of.cached / of.total : 0) + " %";
}

constexpr const char* kRuntimeSilent = "RuntimeSilent";
constexpr const char* kNodeLost = "NodeLost";
constexpr std::size_t kMostTroubles = 20;
constexpr std::size_t kMostRefusals = 5;  // each may be long

struct Problem {
  std::string reason{};
  std::string message{};
};

std::string text_of(const std::vector<Problem>& problems) {
  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostTroubles); ++i) {
    text += (i > 0 ? "; " : "") + problems[i].message;
  }
  if (problems.size() <= kMostTroubles) return text;
  return text + "; and " + std::to_string(problems.size() - kMostTroubles) + " more";
}

std::vector<Problem> runtime_problems(const api::SampleSet& set, const World& world) {
  std::vector<Problem> found;
  int partition = 0;
  for (const api::Pod* pod : runtime_pods(set, world)) {
    const RuntimeReport* answer = report_of(world, partition);
    const std::string name = "runtime " + std::to_string(partition++);
    if (is_silent(answer)) {
      const auto host = pod ? world.runtime_nodes.find(pod->node) : world.runtime_nodes.end();
      const bool node_lost = pod && (host == world.runtime_nodes.end() || !host->second.ready);
      found.push_back(
          {node_lost ? kNodeLost : kRuntimeSilent,
           name + " has not answered for more than " + std::to_string(kSilentAfter.count()) + " s" +
               (pod ? " on node " + pod->node : "") + (node_lost ? ", which is not Ready" : "") +
               "; workers are not sent there, and read from the others or the source"});
    } else if (pod && !pod->unschedulable.empty()) {
      found.push_back({"NoNode", "no node can take " + name + ": " + pod->unschedulable +
                                     "; workers of this partition run anywhere meanwhile"});
    }
  }
  return found;
}

// "the secret a is", "the secrets a and b are": that a set which serves was made with.
std::string secrets_gone(const api::SampleSet& set, const World& world) {
  const std::string own = world.secret && !world.secret->exists ? credentials_of(set)->name : "";
  std::string source;
  if (world.source_secret_missing && set.spec.source && set.spec.source->secret) {
    source = set.spec.source->secret->name;
  }
  if (source.empty() || own.empty() || source == own) {
    const std::string& one = own.empty() ? source : own;
    return one.empty() ? "" : "the secret " + one + " is";
  }
  return "the secrets " + own + " and " + source + " are";
}

std::vector<Problem> service_problems(const api::SampleSet& set, const World& world,
                                      const Blocker& blocked) {
  std::vector<Problem> found;
  for (const std::string& words : rejection_messages(world)) {
    found.push_back({kActionRefused, words});
  }
  if (const auto all = world.rejected_writes.size(); all > kMostRefusals) {
    found.push_back({kActionRefused, std::to_string(all - kMostRefusals) + " more are refused"});
  }
  if (const auto refused = world.runtimes ? preparation_error(world) : std::nullopt) {
    found.push_back(
        {"CredentialsRefused", "the volume goes on with the credentials that it has: " + *refused});
  }
  if (synced(set.status) && blocked.reason == kSpecRefused) {
    found.push_back({kSpecRefused, "the set goes on as it is: " + blocked.message});
  }
  const std::string gone = synced(set.status) ? secrets_gone(set, world) : "";
  if (!gone.empty()) {
    found.push_back({"SecretGone", gone +
                                       " gone; the volume keeps the credentials that it has, and "
                                       "a source that needs keys can not be read any more"});
  }
  return found;
}

}  // namespace

std::vector<std::string> rejection_messages(const World& world) {
  std::vector<std::string> all;
  for (const std::string& words : world.rejected_writes) {
    if (all.size() == kMostRefusals) break;
    all.push_back("the operator is refused this: " + words +
                  "; correct the spec, the rule or the right that is named: it is tried again "
                  "within a minute");
  }
  return all;
}

api::Condition bound_condition(const api::SampleSet& set, const World& world) {
  if (is_bound(world)) {
    return condition(set, "Bound", "True", "Bound", "the volume and its claim are bound");
  }
  return condition(set, "Bound", "False", "WaitingForVolume",
                   "waiting for the volume " + engine::handle_of(set) + " and the claim " +
                       engine::claim_name(set) + " to be bound");
}

api::Condition runtime_condition(const api::SampleSet& set, const World& world) {
  const int wanted = set.spec.effective_partitions();
  const int ready = world.runtimes ? std::min(world.runtimes->ready, wanted) : 0;
  const std::string text = number_of(ready, wanted) + " runtimes are ready";
  const bool away = std::ranges::any_of(
      world.runtime_reports, [](const RuntimeReport& answer) { return is_silent(&answer); });
  if (ready == wanted && world.runtimes->replicas == wanted && !away) {
    return condition(set, "RuntimeReady", "True", "RuntimesReady", text);
  }
  return condition(set, "RuntimeReady", "False", "WaitingForRuntimes",
                   text + runtime_problem(set, world));
}

api::Condition synced_condition(const api::SampleSet& set, const SyncProgress& sync) {
  switch (sync.state) {
    case JobsState::kDone:
      if (set.spec.no_sync) {
        return condition(set, "Synced", "True", "NotNeeded",
                         "the samples are in the engine already");
      }
      return condition(set, "Synced", "True", "Published", "the list of samples is published");
    case JobsState::kFailed:
      return condition(set, "Synced", "False", "SyncFailed", sync.error);
    case JobsState::kRunning:
      return condition(set, "Synced", "Unknown", "Syncing", to_text(sync.work));
    case JobsState::kNotAsked:
      break;
  }
  return condition(set, "Synced", "Unknown", "NotAsked", "no runtime is there yet to sync");
}

api::Condition warmed_condition(const api::SampleSet& set, const World& world,
                                const api::SampleSetStatus& status) {
  const auto say = [&](const char* state, std::string reason, const std::string& message) {
    return condition(set, "Warmed", state, std::move(reason), message + remark_of(world));
  };
  const Coverage covered = coverage_of(status);
  const bool full = covered.total > 0 && covered.cached >= covered.total;
  WarmUpProgress seen = warm_up_progress(world, status);
  const bool off = !set.spec.warms_up_by_itself();
  // Nobody is asked any more; whoever was may still be at it.
  if (off && seen.state != JobsState::kDone) {
    seen.state = is_warming_up(world, status) ? JobsState::kRunning : JobsState::kNotAsked;
  }
  if (seen.state == JobsState::kNotAsked) {
    if (full) return say("True", "WarmedUp", "every sample is in the cache");
    return say(off ? "False" : "Unknown", off ? "SwitchedOff" : "NotAsked",
               off ? "the automatic warm-up is switched off; " + percent(covered) +
                         " of the samples are in the cache"
                   : std::string("the warm-up follows the sync"));
  }
  if (seen.state == JobsState::kFailed) return say("False", "WarmupFailed", seen.error);
  if (seen.state == JobsState::kRunning) {
    return say("Unknown", "WarmingUp", to_text(seen.work) + "; reading works meanwhile");
  }
  if (covered.total == 0 || full) return say("True", "WarmedUp", "every sample is in the cache");
  if (seen.work.files_no_room > 0) {
    return say("False", "NoRoom",
               with_commas(seen.work.files_no_room) +
                   " samples do not fit into the cache and are read from the source; give "
                   "spec.cache more room or the set more partitions");
  }
  return say("False", "PartlyCached",
             percent(covered) + " of the samples are in the cache: " + human_size(covered.cached) +
                 " of " + human_size(covered.total));
}

api::Condition degraded_condition(const api::SampleSet& set, const World& world,
                                  const Blocker& blocked) {
  auto problems = runtime_problems(set, world);
  for (auto& each : service_problems(set, world, blocked)) problems.push_back(std::move(each));
  if (!problems.empty()) {
    // Workers are released by this word.
    const auto no_node = std::ranges::find(problems, "NoNode", &Problem::reason);
    const auto& first = no_node == problems.end() ? problems.front() : *no_node;
    return condition(set, "Degraded", "True", first.reason, text_of(problems));
  }
  // An operator that has just begun does not know yet for how long somebody has been silent.
  const auto* before = api::find_condition(set.status.conditions, "Degraded");
  const bool was_away = before && before->status == "True" &&
                        (before->reason == kRuntimeSilent || before->reason == kNodeLost);
  const bool hesitates =
      std::ranges::any_of(world.runtime_reports,
                          [](const RuntimeReport& answer) { return !answer.status.has_value(); });
  if (was_away && hesitates) {
    return condition(set, "Degraded", "True", before->reason, before->message);
  }
  return condition(set, "Degraded", "False", "AllWell", "nothing is amiss");
}

api::Condition driver_condition(const api::SampleSet& set, const World& world,
                                const engine::Manifests& manifests) {
  const std::string& driver = manifests.csi_driver;
  const auto lacking = missing_driver(set, world, driver);
  if (!lacking) {
    return condition(set, "CSIDriverMissing", "False", "DriverPresent",
                     "the cluster has the CSI driver " + driver);
  }
  if (lacking->empty()) {
    return condition(set, "CSIDriverMissing", "True", "DriverNotInstalled",
                     "the cluster has no CSI driver " + driver + "; " + manifests.without_driver);
  }
  return condition(set, "CSIDriverMissing", "True", "DriverNotOnNode",
                   "node " + *lacking + " has no CSI driver " + driver +
                       " yet; let the driver's DaemonSet run there (tolerations, node selector)");
}

std::optional<api::Condition> samples_left_out_condition(const api::SampleSet& set,
                                                         const api::SampleSetStatus& status) {
  if (!status.index || status.index->left_out <= 0) return std::nullopt;
  return condition(set, kLeftOut, "True", "NotUsable",
                   runtime_jobs::left_out_text({.count = status.index->left_out,
                                                .examples = status.index->left_out_examples}) +
                       "; they cannot be files of the set: rename or remove them at the source, "
                       "then sync again with a SampleJob");
}

std::optional<api::Condition> volume_shared_condition(const api::SampleSet& set,
                                                      const World& world) {
  if (world.volume_sharers.empty() || set.status.engine != "juicefs") return std::nullopt;
  return condition(
      set, "VolumeShared", "True", "FilesMix",
      "the SampleSet " + world.volume_sharers.front() +
          (world.volume_sharers.size() > 1
               ? " and " + std::to_string(world.volume_sharers.size() - 1) + " more sync"
               : " syncs") +
          " into the same volume: each shows the files of all, and what one removes is "
          "gone for all; make the set anew with a sub-dir of its own in "
          "csi.juiceFSMountOptions, or with another secret");
}

api::Condition ready_condition(const api::SampleSet& set, const World& world,
                               const EngineSelection& selection, const SyncProgress& sync,
                               const api::SampleSetStatus& status) {
  const auto no = [&](std::string reason, std::string message) {
    return condition(set, "Ready", "False", std::move(reason), std::move(message));
  };
  // What can not be made of a changed Secret does not end what is there: Degraded says it.
  const bool goes_on = selection.blocked.reason == kSpecRefused && status.phase == "Ready";
  if (!selection.blocked.reason.empty() && !goes_on) {
    return no(selection.blocked.reason, selection.blocked.message);
  }
  if (status.phase == "Ready") {
    return condition(set, "Ready", "True", "Ready", "every runtime serves the samples");
  }
  const auto* driver = api::find_condition(status.conditions, "CSIDriverMissing");
  if (driver && driver->status == "True") return no("CSIDriverMissing", driver->message);
  if (!is_prepared(world, selection.manifests) && !world.runtimes) {
    if (const auto error = preparation_error(world)) {
      return no("PreparationFailed", "the volume could not be prepared: " + *error);
    }
    return no("Preparing", "the volume is being prepared" + preparation_problem(world));
  }
  if (status.phase == "SyncFailed") {
    return no("SyncFailed", "the source could not be read: " + sync.error);
  }
  if (status.phase.empty()) {
    const auto bound = bound_condition(set, world);
    return no(bound.reason, bound.message);
  }
  if (status.phase == "Syncing") return no("Syncing", to_text(sync.work));
  const auto runtimes = runtime_condition(set, world);
  if (runtimes.status != "True") return no(runtimes.reason, runtimes.message);
  if (status.phase == "Mount") return no("WaitingForRuntimes", "runtimes are asked to sync");
  if (const auto* warmed = api::find_condition(status.conditions, "Warmed")) {
    if (warmed->reason == "WarmingUp" || warmed->reason == "WarmupFailed") {
      return no(warmed->reason, warmed->message);
    }
  }
  return no("WaitingForRuntimes", "a runtime does not serve yet" + runtime_problem(set, world));
}

}  // namespace paddle::controllers::sample_set
