// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/conditions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/phases.h"
#include "base/units.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/volume_preparation.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr std::size_t kMaxProblems = 20;
constexpr std::size_t kMaxRejections = 5;  // each may be long

api::Condition make_condition(const api::SampleSet& set, const char* type, const char* status,
                              std::string reason, std::string message) {
  return {.type = type,
          .status = status,
          .reason = std::move(reason),
          .message = std::move(message),
          .observed_generation = set.meta.generation};
}

// Why not all runtimes are ready, as their pods report it; for the end of a sentence.
std::string runtime_problem(const api::SampleSet& set, const World& world) {
  for (const api::Pod* pod : runtime_pods(set, world)) {
    if (!pod) continue;
    const std::string& name = pod->meta.key.name;
    if (!pod->unschedulable.empty()) return "; " + name + ": " + pod->unschedulable;
    for (const auto& container : pod->containers) {
      if (container.ready || container.reason.empty()) continue;
      return "; " + name + ": " + container.reason +
             (container.message.empty() ? "" : ": " + container.message) +
             "; see kubectl describe pod " + name;
    }
    if (!pod->message.empty()) return "; " + name + ": " + pod->message;
  }
  const bool served = is_synced(set.status);  // runtimes that have just started need not answer yet
  for (const RuntimeReport& report : world.runtime_reports) {
    if (served && !report.error.empty()) return "; " + report.error;
  }
  return "";
}

// The texts of all runtimes, each once, in the order of their first runtimes: "runtime 0: the disk
// is full", "runtimes 1 and 3: ...". With one runtime, its text.
std::vector<std::string> texts_of(const World& world, std::string runtime::StatusReport::*text) {
  std::vector<std::pair<std::string, std::vector<int>>> found;
  for (const RuntimeReport& report : world.runtime_reports) {
    if (!report.status || ((*report.status).*text).empty()) continue;
    const std::string& said = (*report.status).*text;
    auto known = std::ranges::find(found, said, &std::pair<std::string, std::vector<int>>::first);
    if (known == found.end()) known = found.insert(found.end(), {said, {}});
    known->second.push_back(report.partition);
  }
  std::vector<std::string> texts;
  for (const auto& [said, partitions] : found) {
    std::string who = partitions.size() == 1 ? "runtime " : "runtimes ";
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      if (i > 0) who += i + 1 == partitions.size() ? " and " : ", ";
      who += std::to_string(partitions[i]);
    }
    texts.push_back(world.runtime_reports.size() > 1 ? who + ": " + said : said);
  }
  return texts;
}

std::string remarks_of(const World& world) {
  const auto texts = texts_of(world, &runtime::StatusReport::remark);
  std::string all;
  for (std::size_t i = 0; i < std::min(texts.size(), kMaxProblems); ++i) all += "; " + texts[i];
  if (texts.size() <= kMaxProblems) return all;
  return all + "; and " + std::to_string(texts.size() - kMaxProblems) + " more";
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

std::string problems_text(const std::vector<BlockReason>& problems) {
  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxProblems); ++i) {
    text += (i > 0 ? "; " : "") + problems[i].message;
  }
  if (problems.size() <= kMaxProblems) return text;
  return text + "; and " + std::to_string(problems.size() - kMaxProblems) + " more";
}

std::vector<BlockReason> runtime_problems(const api::SampleSet& set, const World& world) {
  std::vector<BlockReason> found;
  int partition = 0;
  for (const api::Pod* pod : runtime_pods(set, world)) {
    const RuntimeReport* report = report_of(world, partition);
    const std::string name = "runtime " + std::to_string(partition++);
    if (is_silent(report)) {
      const auto node = pod ? world.runtime_nodes.find(pod->node) : world.runtime_nodes.end();
      const bool node_lost = pod && (node == world.runtime_nodes.end() || !node->second.ready);
      found.push_back(
          {node_lost ? reason::kNodeLost : reason::kRuntimeSilent,
           name + " has not answered for more than " + std::to_string(kSilentAfter.count()) + " s" +
               (pod ? " on node " + pod->node : "") + (node_lost ? ", which is not Ready" : "") +
               (set.spec.effective_partitions() > 1
                    ? "; no workers are placed there, and reads use other runtimes or the source"
                    : "; what it has cached is read again when it answers")});
    } else if (pod && !pod->unschedulable.empty()) {
      found.push_back(
          {reason::kNoNode, name + " cannot be scheduled: " + pod->unschedulable +
                                "; until then workers of this partition may run on any node"});
    }
  }
  return found;
}

// "secret a", "secrets a and b": of a set that serves; they no longer exist.
std::string secrets_gone(const api::SampleSet& set, const World& world) {
  const std::string own =
      world.secret && !world.secret->exists ? credentials_reference(set)->name : "";
  std::string source;
  if (world.source_secret_missing && set.spec.source && set.spec.source->secret) {
    source = set.spec.source->secret->name;
  }
  if (source.empty() || own.empty() || source == own) {
    const std::string& one = own.empty() ? source : own;
    return one.empty() ? "" : "secret " + one;
  }
  return "secrets " + own + " and " + source;
}

std::vector<BlockReason> change_problems(const api::SampleSet& set, const World& world,
                                         const BlockReason& blocked) {
  std::vector<BlockReason> found;
  for (const std::string& message : rejection_messages(world)) {
    found.push_back({reason::kActionRefused, message});
  }
  if (const auto all = world.rejections.writes.size(); all > kMaxRejections) {
    found.push_back({reason::kActionRefused,
                     std::to_string(all - kMaxRejections) + " more writes were rejected"});
  }
  if (const auto error = world.runtimes ? preparation_error(world) : std::nullopt) {
    found.push_back(
        {reason::kCredentialsRefused,
         "the volume keeps its previous credentials because the new ones failed: " + *error});
  }
  if (is_synced(set.status) && blocked.reason == reason::kSpecRefused) {
    found.push_back(
        {reason::kSpecRefused,
         "the change is not applied, and the set serves as before: " + blocked.message});
  }
  const std::string gone = is_synced(set.status) ? secrets_gone(set, world) : "";
  if (!gone.empty()) {
    found.push_back({reason::kSecretGone,
                     gone +
                         " not found; the volume keeps its current credentials, but a source that "
                         "needs the secret can no longer be read"});
  }
  return found;
}

// Why a set that is not synced, or not Ready for another reason, waits.
BlockReason waiting_reason(const api::SampleSet& set, const World& world,
                           const EngineSelection& selection, const JobProgress& sync,
                           const api::SampleSetStatus& status) {
  namespace phase = api::sample_set_phase;
  const auto* driver = api::find_condition(status.conditions, condition_type::kCsiDriverMissing);
  if (driver && driver->status == "True") return {reason::kCsiDriverMissing, driver->message};
  if (!is_prepared(world, selection.manifests) && !world.runtimes) {
    if (const auto error = preparation_error(world)) {
      return {reason::kPreparationFailed, "failed to prepare the volume: " + *error};
    }
    return {reason::kPreparing,
            "waiting for the volume to be prepared" + preparation_problem(world)};
  }
  if (status.phase == phase::kSyncFailed) {
    return {reason::kSyncFailed, "the source could not be read: " + sync.error};
  }
  if (status.phase == phase::kNone) {
    const auto bound = bound_condition(set, world);
    return {bound.reason, bound.message};
  }
  if (status.phase == phase::kSyncing) return {reason::kSyncing, describe(sync.work)};
  const auto runtimes = runtime_condition(set, world);
  if (runtimes.status != "True") return {runtimes.reason, runtimes.message};
  if (status.phase == phase::kMount) {
    return {reason::kWaitingForRuntimes, "waiting for the runtimes to start the sync"};
  }
  const auto* warmed = api::find_condition(status.conditions, condition_type::kWarmed);
  if (warmed && (warmed->reason == reason::kWarmingUp || warmed->reason == reason::kWarmupFailed)) {
    return {warmed->reason, warmed->message};
  }
  return {reason::kWaitingForRuntimes,
          "waiting for all runtimes to serve the samples" + runtime_problem(set, world)};
}

}  // namespace

std::vector<std::string> rejection_messages(const World& world) {
  std::vector<std::string> all;
  for (const std::string& error : world.rejections.writes) {
    if (all.size() == kMaxRejections) break;
    all.push_back("rejected: " + error +
                  "; fix the spec, or the policy or permission that is named; retrying within a "
                  "minute");
  }
  return all;
}

api::Condition bound_condition(const api::SampleSet& set, const World& world) {
  if (is_bound(world)) {
    return make_condition(set, condition_type::kBound, "True", reason::kBound,
                          "the volume and its claim are bound");
  }
  return make_condition(set, condition_type::kBound, "False", reason::kWaitingForVolume,
                        "waiting for PersistentVolume " + engine::handle_of(set) +
                            " and PersistentVolumeClaim " + engine::claim_name(set) +
                            " to be bound");
}

api::Condition runtime_condition(const api::SampleSet& set, const World& world) {
  const int wanted = set.spec.effective_partitions();
  const auto silent = static_cast<int>(std::ranges::count_if(
      world.runtime_reports, [](const RuntimeReport& report) { return is_silent(&report); }));
  // A pod may be Ready while its runtime does not answer.
  const int ready =
      world.runtimes ? std::max(0, std::min(world.runtimes->ready, wanted - silent)) : 0;
  const std::string text =
      std::to_string(ready) + " of " + std::to_string(wanted) + " runtimes are ready";
  if (ready == wanted && world.runtimes->replicas == wanted && silent == 0) {
    return make_condition(set, condition_type::kRuntimeReady, "True", reason::kRuntimesReady, text);
  }
  if (const std::string& error = world.runtime_creation_error; !error.empty()) {
    return make_condition(set, condition_type::kRuntimeReady, "False", reason::kFailedCreate,
                          text + "; the cluster refuses their pods: " + error);
  }
  return make_condition(set, condition_type::kRuntimeReady, "False", reason::kWaitingForRuntimes,
                        text + runtime_problem(set, world));
}

api::Condition synced_condition(const api::SampleSet& set, const JobProgress& sync) {
  const auto make = [&](const char* status, const char* reason, const std::string& message) {
    return make_condition(set, condition_type::kSynced, status, reason, message);
  };
  switch (sync.stage) {
    case JobStage::kDone:
      if (set.spec.no_sync) {
        return make("True", reason::kNotNeeded, "the samples are already in the engine");
      }
      return make("True", reason::kPublished, "the list of samples is published");
    case JobStage::kFailed:
      return make("False", reason::kSyncFailed, sync.error);
    case JobStage::kRunning:
      return make("Unknown", reason::kSyncing, describe(sync.work));
    case JobStage::kNotRequested:
      break;
  }
  return make("Unknown", reason::kNotAsked, "waiting for a runtime to sync the samples");
}

api::Condition warmed_condition(const api::SampleSet& set, const World& world,
                                const api::SampleSetStatus& status) {
  const auto make = [&](const char* state, const char* reason, const std::string& message) {
    return make_condition(set, condition_type::kWarmed, state, reason, message + remarks_of(world));
  };
  const Coverage covered = coverage_of(status);
  const bool full = covered.total > 0 && covered.cached >= covered.total;
  JobProgress warm_up = warm_up_progress(world, status);
  const bool off = !set.spec.warms_up_by_itself();
  // Runtimes no longer receive a warm-up; one that has received it may still run it.
  if (off && warm_up.stage != JobStage::kDone) {
    warm_up.stage = is_warming_up(world, status) ? JobStage::kRunning : JobStage::kNotRequested;
  }
  if (warm_up.stage == JobStage::kNotRequested) {
    if (full) return make("True", reason::kWarmedUp, "all samples are cached");
    if (!off) return make("Unknown", reason::kNotAsked, "the warm-up starts after the sync");
    return make(
        "False", reason::kSwitchedOff,
        "the automatic warm-up is disabled; " + percent(covered) + " of the samples are cached");
  }
  if (warm_up.stage == JobStage::kFailed) {
    return make("False", reason::kWarmupFailed, warm_up.error);
  }
  if (warm_up.stage == JobStage::kRunning) {
    return make("Unknown", reason::kWarmingUp,
                describe(warm_up.work) + "; samples can be read meanwhile");
  }
  if (covered.total == 0 || full) {
    return make("True", reason::kWarmedUp, "all samples are cached");
  }
  if (warm_up.files_no_room > 0) {
    return make("False", reason::kNoRoom,
                with_commas(warm_up.files_no_room) +
                    " samples do not fit into the cache and are read from the source; increase "
                    "spec.cache or spec.partitions");
  }
  return make("False", reason::kPartlyCached,
              percent(covered) + " of the samples are cached: " + human_size(covered.cached) +
                  " of " + human_size(covered.total));
}

api::Condition degraded_condition(const api::SampleSet& set, const World& world,
                                  const BlockReason& blocked) {
  auto problems = runtime_problems(set, world);
  for (const std::string& text : texts_of(world, &runtime::StatusReport::source_error)) {
    problems.push_back({reason::kSourceUnavailable, text + "; cached samples are read further"});
  }
  for (auto& each : change_problems(set, world, blocked)) problems.push_back(std::move(each));
  if (!problems.empty()) {
    // This reason releases workers.
    const auto no_node = std::ranges::find(problems, reason::kNoNode, &BlockReason::reason);
    const auto& first = no_node == problems.end() ? problems.front() : *no_node;
    return make_condition(set, condition_type::kDegraded, "True", first.reason,
                          problems_text(problems));
  }
  // An operator that has just started does not know yet for how long a runtime has been silent.
  const auto* before = api::find_condition(set.status.conditions, condition_type::kDegraded);
  const bool was_silent =
      before && before->status == "True" &&
      (before->reason == reason::kRuntimeSilent || before->reason == reason::kNodeLost);
  const bool unanswered =
      std::ranges::any_of(world.runtime_reports,
                          [](const RuntimeReport& report) { return !report.status.has_value(); });
  if (was_silent && unanswered) {
    return make_condition(set, condition_type::kDegraded, "True", before->reason, before->message);
  }
  return make_condition(set, condition_type::kDegraded, "False", reason::kAllWell,
                        "no problems found");
}

api::Condition driver_condition(const api::SampleSet& set, const World& world,
                                const engine::Manifests& manifests) {
  const auto make = [&](const char* status, const char* reason, const std::string& message) {
    return make_condition(set, condition_type::kCsiDriverMissing, status, reason, message);
  };
  const std::string& driver = manifests.csi_driver;
  const auto missing = missing_driver(set, world, driver);
  if (!missing) {
    return make("False", reason::kDriverPresent, "CSI driver " + driver + " is installed");
  }
  if (missing->empty()) {
    return make("True", reason::kDriverNotInstalled,
                "CSI driver " + driver + " is not installed; " + manifests.without_driver);
  }
  return make("True", reason::kDriverNotOnNode,
              "CSI driver " + driver + " is not registered on node " + *missing +
                  "; check that the driver's DaemonSet runs there (tolerations, node selector)");
}

std::optional<api::Condition> samples_left_out_condition(const api::SampleSet& set,
                                                         const api::SampleSetStatus& status) {
  if (!status.index || status.index->left_out <= 0) return std::nullopt;
  return make_condition(
      set, condition_type::kSamplesLeftOut, "True", reason::kNotUsable,
      runtime_jobs::left_out_text(
          {.count = status.index->left_out, .examples = status.index->left_out_examples}) +
          "; they cannot be files of the SampleSet: rename or remove them at the source, "
          "then sync again with a SampleJob");
}

std::optional<api::Condition> volume_shared_condition(const api::SampleSet& set,
                                                      const World& world) {
  if (world.volume_sharers.empty() || set.status.engine != "juicefs") return std::nullopt;
  const std::size_t more = world.volume_sharers.size() - 1;
  return make_condition(
      set, condition_type::kVolumeShared, "True", reason::kFilesMix,
      "the SampleSet " + world.volume_sharers.front() +
          (more > 0 ? " and " + std::to_string(more) + " more sync" : " syncs") +
          " into the same volume: each shows the files of all, and files that one removes are "
          "removed for all; create the SampleSet again with its own sub-dir in "
          "csi.juiceFSMountOptions, or with another secret");
}

api::Condition ready_condition(const api::SampleSet& set, const World& world,
                               const EngineSelection& selection, const JobProgress& sync,
                               const api::SampleSetStatus& status) {
  const bool ready = status.phase == api::sample_set_phase::kReady;
  // A changed Secret that the engine rejects does not affect what runs: Degraded shows it.
  const bool serves = selection.blocked.reason == reason::kSpecRefused && ready;
  if (ready && (serves || !selection.blocked.blocks())) {
    return make_condition(set, condition_type::kReady, "True", reason::kReady,
                          "all runtimes serve the samples");
  }
  const BlockReason why = selection.blocked.blocks()
                              ? selection.blocked
                              : waiting_reason(set, world, selection, sync, status);
  return make_condition(set, condition_type::kReady, "False", why.reason, why.message);
}

}  // namespace paddle::controllers::sample_set
