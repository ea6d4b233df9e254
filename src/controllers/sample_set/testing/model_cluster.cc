// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/testing/model_cluster.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/match.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/objects/owned_objects.h"
#include "engine/names.h"
#include "engine/time_limits.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_set {

using api::Json;
using runtime::JobState;

std::vector<Action> actions_of(const Plan& plan) {
  std::vector<Action> all;
  for (const Plan::Wave& wave : plan.waves) all.insert(all.end(), wave.begin(), wave.end());
  return all;
}

bool is_empty(const Plan& plan) { return plan.waves.empty() && !plan.status; }

std::string ready_reason(const Plan& plan) {
  if (!plan.status) return "(no status)";
  const auto* ready = api::find_condition(plan.status->conditions, "Ready");
  return ready ? ready->reason : "(no condition)";
}

std::size_t count_created(const Plan& plan, OwnedKind kind) {
  const auto all = only<CreateObject>(plan);
  return static_cast<std::size_t>(std::ranges::count(all, kind, &CreateObject::kind));
}

ModelCluster::ModelCluster(api::SampleSet start, int nodes) : set(std::move(start)) {
  for (int i = 0; i < nodes; ++i) nodes_["node-" + std::to_string(i)] = NodeSummary{};
  world.supports_policies = true;
  world.drivers = CsiDriverSummary{.installed = {SharedVolumeEngine::kDriver}};
  if (set.spec.secret) put_secret("s/1", {{"metaurl", "redis://x"}, {"secret-key", "k"}});
}

Plan ModelCluster::plan_for(const api::SampleSet& seen, const World& seen_world) const {
  return deleted ? plan_deletion(seen, seen_world) : desired(seen, seen_world, config_, now);
}

void ModelCluster::end_pass() {
  if (environment_runs) run_environment();
  seen_.push_front({set, world});
  if (seen_.size() > kRemembered) seen_.pop_back();
}

Plan ModelCluster::pass() {
  Plan plan = next_plan();
  for (const Action& action : actions_of(plan)) apply(action);
  if (plan.status) apply_status(*plan.status);
  end_pass();
  return plan;
}

Plan ModelCluster::settle(int passes) {
  Plan plan;
  for (int i = 0; i < passes; ++i) plan = pass();
  return plan;
}

void ModelCluster::pass_and_crash(std::size_t steps) {
  const Plan plan = next_plan();
  const auto actions = actions_of(plan);
  for (std::size_t i = 0; i < std::min(steps, actions.size()); ++i) apply(actions[i]);
  if (plan.status && steps > actions.size()) apply_status(*plan.status);
  end_pass();
}

ModelCluster::Seen ModelCluster::seen_before(std::size_t passes_ago) {
  if (passes_ago == 0 || seen_.empty()) return {set, world};
  Seen seen = seen_[std::min(passes_ago, seen_.size()) - 1];
  seen.world.secret = world.secret;
  seen.world.token = world.token;
  seen.world.credentials = world.credentials;
  seen.world.driver_credentials = world.driver_credentials;
  seen.world.runtime_reports.clear();
  for (const api::Pod& pod : seen.world.pods) {
    if (pod.node.empty()) continue;
    const int partition = std::stoi(pod.meta.key.name.substr(pod.meta.key.name.rfind('-') + 1));
    const bool gone = std::ranges::none_of(
        world.pods, [&](const api::Pod& now_there) { return now_there.meta.uid == pod.meta.uid; });
    seen.world.runtime_reports.push_back(
        gone ? RuntimeReport{.partition = partition, .error = "no answer"}
             : report_of_runtime(seen.set, partition, pod));
  }
  return seen;
}

bool ModelCluster::refuses(const Action& action, const Seen& seen) const {
  const auto is_gone = [&](OwnedKind kind, const std::string& uid) {
    const api::Meta* meta = find_owned(world, kind);
    return !meta || meta->uid != uid;
  };
  return std::visit(
      Match{
          [&](const SetOwners& a) { return is_gone(a.kind, a.uid); },
          [&](const UpdateCredentials& a) { return is_gone(a.kind, a.uid); },
          [&](const Annotate& a) { return is_gone(a.kind, a.uid); },
          [&](const RenewToken& a) { return is_gone(OwnedKind::kToken, a.uid); },
          [&](const ForgetPreviousToken& a) { return is_gone(OwnedKind::kToken, a.uid); },
          [&](const SetClaimUid& a) {
            return is_gone(OwnedKind::kVolume, a.uid) || seen.world.volume != world.volume;
          },
          [&](const PatchObject& a) {
            return is_gone(a.kind, a.uid) ||
                   *find_owned(seen.world, a.kind) != *find_owned(world, a.kind) ||
                   (a.kind == OwnedKind::kRuntimes &&
                    seen.world.runtimes->replicas != world.runtimes->replicas);
          },
          [](const auto&) { return false; },
      },
      action);
}

void ModelCluster::pass_late(std::size_t passes_ago, int times) {
  const Seen seen = seen_before(passes_ago);
  const Plan plan = plan_for(seen.set, seen.world);
  late_ = true;
  for (; times > 0; --times) {
    bool refused = false;
    for (const Action& action : actions_of(plan)) {
      refused = refuses(action, seen);
      if (refused) break;
      apply(action);
    }
    if (!refused && plan.status && seen.set == set) apply_status(*plan.status);
  }
  late_ = false;
  end_pass();
}

void ModelCluster::put_secret(const std::string& version, const engine::Credentials& values) {
  world.secret = SecretSummary{.exists = true, .version = version, .values = values};
}

void ModelCluster::repartition(int partitions) {
  set.spec.partitions = partitions;
  ++set.meta.generation;
  ended_.clear();  // it is to run again
}

void ModelCluster::silence(int partition, std::chrono::seconds for_how_long) {
  if (const api::Pod* pod = pod_of(partition)) runtimes_[pod->meta.uid].silent = for_how_long;
  update_world();
}

void ModelCluster::lose_node(const std::string& name) {
  nodes_[name].ready = false;
  nodes_[name].unready_since = now;
  for (const api::Pod& pod : world.pods) {
    if (pod.node == name) runtimes_[pod.meta.uid].silent = std::chrono::seconds(60);
  }
  update_world();
}

void ModelCluster::heal_node(const std::string& name) {
  nodes_[name] = NodeSummary{};
  for (const api::Pod& pod : world.pods) {
    if (pod.node == name) runtimes_[pod.meta.uid].silent = {};
  }
  update_world();
}

void ModelCluster::lose_journal(int partition) {
  api::Pod* pod = pod_of(partition);
  if (!pod) return;
  pod->meta.uid = "uid-" + std::to_string(++uids_);
  update_world();
}

void ModelCluster::clear_cache(int partition) {
  const api::Pod* pod = pod_of(partition);
  if (!pod) return;
  cached_[pod->node] = 0;
  runtimes_[pod->meta.uid].cleared = true;
  update_world();
}

void ModelCluster::lose_cache(const std::string& node) {
  cached_[node] = 0;
  ++client_restarts_[node];
  update_world();
}

std::string ModelCluster::node_of(int partition) const {
  const api::Pod* pod = pod_of(partition);
  return pod ? pod->node : "";
}

std::set<std::string> ModelCluster::jobs_at(int partition) const {
  std::set<std::string> ids;
  const api::Pod* pod = pod_of(partition);
  const auto found = pod ? runtimes_.find(pod->meta.uid) : runtimes_.end();
  if (found == runtimes_.end()) return ids;
  for (const auto& [id, job] : found->second.jobs) {
    if (!runtime::ended(job.state)) ids.insert(id);
  }
  return ids;
}

int ModelCluster::puts_of(const std::string& id) const {
  const auto found = puts_.find(id);
  return found == puts_.end() ? 0 : found->second;
}

const api::Condition& ModelCluster::condition(const char* type) const {
  static const api::Condition kNone{};
  const auto* found = api::find_condition(set.status.conditions, type);
  return found ? *found : kNone;
}

const api::Pod* ModelCluster::pod_of(int partition) const {
  const std::string name = engine::runtime_pod_name(set, partition);
  const auto found =
      std::ranges::find_if(world.pods, [&](const auto& pod) { return pod.meta.key.name == name; });
  return found == world.pods.end() ? nullptr : &*found;
}
api::Pod* ModelCluster::pod_of(int partition) {
  return const_cast<api::Pod*>(std::as_const(*this).pod_of(partition));
}

api::Meta ModelCluster::create_meta(const api::Opaque& object) {
  auto meta = *api::decode_meta(*object);
  meta.uid = "uid-" + std::to_string(++uids_);
  meta.created = now;
  created_.insert(meta.uid);
  return meta;
}

void ModelCluster::violate(const std::string& what) {
  if (violation.empty()) violation = what;
}

void ModelCluster::check_ours(const std::string& uid, const char* what) {
  if (!created_.contains(uid)) violate(std::string(what) + " of a foreign object");
}

api::Meta* ModelCluster::find_object(OwnedKind kind) {
  return const_cast<api::Meta*>(find_owned(world, kind));
}

void ModelCluster::apply(const Action& action) {
  std::visit(
      Match{
          [&](const RemoveFinalizer&) { set.meta.finalizers.clear(); },
          [&](const CreateObject& a) { create(a); },
          [&](const DeleteObject& a) {
            check_ours(a.uid, "deletion");
            const api::Meta* meta = find_object(a.kind);
            if (!meta || meta->uid != a.uid) return;
            with_slot(world, a.kind, [](auto& slot) { slot.reset(); });
          },
          [&](const SetOwners& a) {
            check_ours(a.uid, "change of owners");
            if (api::Meta* meta = find_object(a.kind)) meta->owners = a.owners;
          },
          [&](const UpdateCredentials& a) {
            check_ours(a.uid, "change of credentials");
            auto& copy =
                a.kind == OwnedKind::kCredentials ? world.credentials : world.driver_credentials;
            for (const auto& [name, value] : a.annotations) {
              copy->meta.annotations[name] = value;
            }
            copy->values = runtime::secret_values({{"data", *a.data}});
          },
          [&](const Annotate& a) {
            check_ours(a.uid, "annotation");
            api::Meta* meta = find_object(a.kind);
            for (const auto& [name, value] : a.annotations) {
              meta->annotations[name] = value;
              if (value.empty()) meta->annotations.erase(name);
            }
          },
          [&](const SetClaimUid& a) {
            check_ours(a.uid, "release");
            check_ours(a.claim_uid, "volume for the claim");
            if (world.claim && world.claim->bound) {
              violate("a volume was taken from a claim that is bound");
            }
            if (world.volume && world.volume->meta.uid == a.uid) {
              world.volume->claim_uid = a.claim_uid;
            }
          },
          [&](const RenewToken& a) {
            check_ours(a.uid, "renewal");
            world.token->annotations[kRenewAfter] = rfc3339(now + std::chrono::hours(24));
            world.token->annotations[kForgetAfter] = rfc3339(now + engine::kPreviousSecretLifetime);
          },
          [&](const ForgetPreviousToken& a) {
            check_ours(a.uid, "end of the previous token");
            world.token->annotations.erase(kForgetAfter);
          },
          [&](const PatchObject& a) { patch(a); },
          [&](const ReplaceRuntime& a) {
            std::erase_if(world.pods, [&](const auto& pod) { return pod.meta.uid == a.uid; });
          },
          [&](const AnnotatePodSecrets& a) {
            for (api::Pod& pod : world.pods) {
              if (pod.meta.uid == a.uid) pod.meta.annotations[kSecretVersions] = a.value;
            }
          },
          [&](const PutJob& a) { put(a); },
          [&](const CancelJob& a) {
            const api::Pod* pod = pod_of(a.partition);
            if (!pod) return;
            auto& jobs = runtimes_[pod->meta.uid].jobs;
            const auto job = jobs.find(a.id);
            if (job == jobs.end() || runtime::ended(job->second.state)) return;
            job->second.state = JobState::kCancelled;
          },
          [&](const LabelNode& a) {
            world.node_labels[a.node][a.label] = a.value;
            if (a.value.empty()) world.node_labels[a.node].erase(a.label);
            if (world.node_labels[a.node].empty()) world.node_labels.erase(a.node);
          },
          [&](const EmitEvent&) {},
      },
      action);
}

void ModelCluster::apply_status(const api::SampleSetStatus& status) {
  set.status = status;
  if (status.jobs) stored_.insert({status.jobs->sync, status.jobs->warmup});
  for (const auto& part : status.sync.value_or(api::SharedSync{}).parts) stored_.insert(part.id);
  record_ended_warm_ups();
}

void ModelCluster::create(const CreateObject& action) {
  if (find_object(action.kind)) return;
  const api::Meta meta = create_meta(action.object);
  with_slot(world, action.kind, [&](auto& slot) { meta_of(slot.emplace()) = meta; });
  const Json& object = *action.object;
  if (action.kind == OwnedKind::kToken) {
    world.token->annotations[kRenewAfter] = rfc3339(now + std::chrono::hours(24));
  }
  for (auto* copy : {&world.credentials, &world.driver_credentials}) {
    if (*copy && (*copy)->meta.uid == meta.uid) (*copy)->values = runtime::secret_values(object);
  }
  if (action.kind == OwnedKind::kVolume) {
    world.volume->claim = set.meta.key;
    world.volume->claim_uid = object.value("/spec/claimRef/uid"_json_pointer, std::string());
  }
  if (action.kind == OwnedKind::kRuntimes) world.runtimes->replicas = object["spec"]["replicas"];
}

void ModelCluster::patch(const PatchObject& action) {
  check_ours(action.uid, "patch");
  api::Meta* meta = find_object(action.kind);
  for (const Json& change : *action.operations) {
    const std::string path = change["path"];
    if (path == "/spec/replicas") world.runtimes->replicas = change["value"];
    for (const char* annotation : {kTemplateHash, kSpecHash}) {
      std::string escaped = annotation;
      escaped.replace(escaped.find('/'), 1, "~1");
      if (path.ends_with(escaped)) meta->annotations[annotation] = change["value"];
    }
  }
}

void ModelCluster::put(const PutJob& action) {
  if (!stored_.contains(action.id)) violate(action.id + " was not stored before its use");
  const api::Pod* pod = pod_of(action.partition);
  if (!pod) return;
  // A runtime takes a job that it has for the one it has.
  if (late_ && runtimes_[pod->meta.uid].jobs.contains(action.id)) return;
  const bool warm_up = action.request.kind == runtime::JobKind::kWarmup;
  const WarmUp what(warm_up_round(action.id), action.partition, pod->node);
  const bool lost = cached_[pod->node] == 0;
  if (warm_up && ended_.contains(what) && !lost) {
    violate(action.id + " was repeated on " + pod->node + ", where it had ended");
  }
  if (warm_up && cleared_.contains(what)) violate(action.id + " undid a clear on " + pod->node);
  ++puts_[action.id];
  if (warm_up) runtimes_[pod->meta.uid].cleared = false;
  runtime::JobReport report{
      .id = action.id, .kind = action.request.kind, .state = JobState::kRunning};
  if (action.request.sync.parts > 1) put_part(action, report);
  runtimes_[pod->meta.uid].jobs.try_emplace(action.id, report);
}

// Runtime 0 divides a sync when it receives it for the first time since it has its journal; the
// other runtimes get the division from it.
void ModelCluster::put_part(const PutJob& action, runtime::JobReport& report) {
  const auto& task = action.request.sync;
  const std::string division = task.division.empty() ? action.id : task.division;
  if (task.part == 0 && task.division.empty()) {
    cuts_[division] = "cut-" + std::to_string(puts_[action.id]);
  }
  report.progress.cut = cuts_[division];
  report.progress.files_total = 10;
  report.progress.bytes_total = 100;
  for (const auto& part : set.status.sync.value_or(api::SharedSync{}).parts) {
    if (part.index == action.partition && part.state == "Succeeded") {
      violate(action.id + " was sent again although it had succeeded");
    }
  }
}

void ModelCluster::record_ended_warm_ups() {
  ended_.clear();
  for (const auto& each : set.status.partitions) {
    if (each.warmed.empty()) continue;
    const WarmUp what(each.warmed, each.index, each.warmed_on);
    ended_.insert(what);
    std::erase_if(cleared_, [&](const auto& old) {  // it has moved since
      return std::get<1>(old) == each.index && std::get<2>(old) != each.warmed_on;
    });
    const api::Pod* pod = pod_of(each.index);
    if (!pod || pod->node != each.warmed_on || !world.runtimes) continue;
    const RuntimeReport* report = report_of(world, each.index);
    if (report && report->warmup && report->warmup->cleared_since) cleared_.insert(what);
  }
}

}  // namespace paddle::controllers::sample_set
