// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/testing/model_cluster.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "base/match.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {
namespace {

using State = api::ContainerStatus::State;
constexpr size_t kRemembered = 4;

// The list of peers that a pod of this kind reads its own address in.
const char* list_of(RoleKind kind) {
  switch (kind) {
    case RoleKind::kPs:
      return "PADDLE_PSERVERS_IP_PORT_LIST";
    case RoleKind::kHeter:
      return "PADDLE_HETER_TRAINER_IP_PORT_LIST";
    default:
      return "PADDLE_TRAINER_ENDPOINTS";
  }
}

// Whether no pod of `later` may start before all of `first` have, as the contract promises.
bool goes_before(const api::PaddleJobSpec& spec, const ReplicaGroup& first,
                 const ReplicaGroup& later) {
  if (spec.tasks.empty() || spec.start_in_order == 1) return first.position < later.position;
  return first.kind == RoleKind::kPs && later.kind != RoleKind::kPs;
}

std::string image_in(const api::Json& pod_template) {
  return api::look_text(pod_template, "/spec/containers/0/image");
}

bool crashed(const api::Pod& pod) {
  return !pod.containers.empty() && pod.containers[0].reason == "CrashLoopBackOff";
}

bool program_runs(const api::Pod& pod) {
  return !ended(pod) && !pod.containers.empty() && pod.containers[0].state == State::kRunning;
}

}  // namespace

ModelCluster::ModelCluster(api::PaddleJob job, bool lenient)
    : job_(std::move(job)), lenient_(lenient) {
  now_ = *job_.meta.created;
  job_.meta.resource_version = "1";
  changed();
}

void ModelCluster::changed(bool by_operator) {
  World observed;
  for (const auto& [name, entry] : pods_) {
    observed.pods.push_back(std::make_shared<const api::Pod>(entry.pod));
  }
  for (const auto& [name, service] : services_) observed.services.push_back(service);
  observed.peer_config = map_;
  observed.pod_group = group_;
  since_own_write_ = by_operator ? 0 : since_own_write_ + 1;
  old_worlds_.push_front(std::move(observed));
  old_jobs_.push_front(job_);
  if (old_worlds_.size() > kRemembered) old_worlds_.pop_back();
  if (old_jobs_.size() > kRemembered) old_jobs_.pop_back();
}

api::PaddleJob ModelCluster::job(size_t steps_ago, bool foreign) const {
  if (!foreign) steps_ago = std::min(steps_ago, since_own_write_);
  return old_jobs_[std::min(steps_ago, old_jobs_.size() - 1)];
}
World ModelCluster::world(size_t steps_ago, bool foreign) const {
  if (!foreign) steps_ago = std::min(steps_ago, since_own_write_);
  return old_worlds_[std::min(steps_ago, old_worlds_.size() - 1)];
}

api::PaddleJob ModelCluster::answer(const std::vector<Query>& queries, api::PaddleJob observed,
                                    World& world) const {
  for (const Query& query : queries) {
    if (const auto* lease = std::get_if<ReadNodeLease>(&query)) {
      world.node_leases[lease->node] = {.renewed = now_ + std::chrono::seconds{1}};
    }
    if (std::holds_alternative<ReadElasticReplicas>(query)) world.elastic.replicas = replicas_;
    if (std::holds_alternative<ConfirmPods>(query)) {
      World current = this->world();
      current.node_leases = world.node_leases;
      current.elastic = world.elastic;
      current.confirmed = true;
      world = std::move(current);
      observed = job();
    }
  }
  return observed;
}

void ModelCluster::promise(bool kept, const std::string& text) {
  if (!kept && broken_.empty()) broken_ = text;
}

bool ModelCluster::store_status(const api::PaddleJob& observed,
                                const api::PaddleJobStatus& status) {
  if (observed.meta.resource_version != job_.meta.resource_version) return false;
  promise(!api::paddle_job_phase::is_final(job_.status.phase) ||
              status.phase == job_.status.phase || job_.meta.deleting(),
          "a finished job became " + status.phase);
  promise(status.epoch >= job_.status.epoch, "the epoch went back");
  promise(status.disruptions <= lost_, "a disruption was counted and nothing was lost");
  if (status.epoch == job_.status.epoch) {
    for (const std::string& name : finished_pods(job_.status)) {
      promise(finished_pods(status).contains(name), name + " had succeeded, and it was forgotten");
    }
  }
  job_.status = status;
  job_.meta.resource_version = std::to_string(++version_);
  changed(true);
  return true;
}

void ModelCluster::create(const Create& a, const api::PaddleJob& observed) {
  const api::Meta meta = *api::decode_meta(*a.manifest);
  promise(meta.controller() && meta.controller()->uid == observed.meta.uid,
          "an object without owner");
  if (a.kind == OwnedKind::kService) {
    services_.try_emplace(a.key.name, ServiceSummary{.meta = meta}).first->second.meta.uid = "s";
    return;
  }
  if (a.kind == OwnedKind::kConfigMap) {
    if (map_) return;
    map_ = PeerConfigMap{.meta = meta};
    map_->meta.uid = "map" + std::to_string(++uids_);
    map_->meta.resource_version = std::to_string(++version_);
    for (const auto& [key, value] : (*a.manifest)["data"].items()) map_->data[key] = value;
    return;
  }
  if (a.kind == OwnedKind::kPodGroup) {
    if (group_) return;
    group_ = *decode_pod_group(*a.manifest);
    group_->meta.uid = "group" + std::to_string(++uids_);
    group_->meta.resource_version = std::to_string(++version_);
    group_->phase = "Pending";
    return;
  }
  if (pods_.contains(a.key.name)) return;  // AlreadyExists, and ours
  const bool in_gang = api::look_text(*a.manifest, "/spec/schedulerName") == kVolcano;
  promise(!in_gang || lenient_ || !pods_.empty() || job_.status.epoch > 0 ||
              (group_ && group_->phase == "Inqueue"),
          a.key.name + " was created before its gang was admitted");
  promise(!job_.meta.deleting(), "a pod was created for a deleted job");
  promise(lenient_ || epoch_of(meta) != job_.status.epoch ||
              !finished_pods(job_.status).contains(a.key.name),
          a.key.name + " was created again although it had succeeded");
  ModelPod& entry = pods_[a.key.name];
  entry.pod.meta = meta;
  entry.pod.meta.uid = "pod" + std::to_string(++uids_);
  entry.pod.meta.created = now_;
  entry.elastic = api::look(*a.manifest, "/spec/initContainers").is_null();
  entry.restarts_in_place = api::look_text(*a.manifest, "/spec/restartPolicy") != "Never";
  entry.image = image_in(*a.manifest);
  ++made_;
}

bool ModelCluster::change_group(const Patch& a) {
  const api::Json meta = api::look(*a.body, "metadata");
  if (!group_ || api::look_text(meta, "uid") != group_->meta.uid ||
      api::look_text(meta, "resourceVersion") != group_->meta.resource_version) {
    return false;
  }
  api::Json spec = *group_->spec;
  spec.merge_patch(api::look(*a.body, "spec"));
  group_->spec = api::Opaque(spec);
  group_->meta.resource_version = std::to_string(++version_);
  return true;
}

bool ModelCluster::stop(const Patch& a) {
  const auto found = pods_.find(a.key.name);
  if (api::look(*a.body, "/spec/activeDeadlineSeconds").is_null()) return true;
  if (found == pods_.end()) return true;
  api::Pod& pod = found->second.pod;
  if (api::look_text(*a.body, "/metadata/uid") != pod.meta.uid) return false;
  promise(api::paddle_job_phase::is_final(job_.status.phase),
          a.key.name + " was stopped too early");
  pod.active_deadline_seconds = api::look_integer(*a.body, "/spec/activeDeadlineSeconds");
  return true;
}

bool ModelCluster::execute(const Action& action, const api::PaddleJob& observed) {
  const bool done =
      std::visit(Match{
                     [&](const Create& a) {
                       create(a, observed);
                       return true;
                     },
                     [&](const Delete& a) {
                       if (a.kind == OwnedKind::kService) services_.erase(a.key.name);
                       if (a.kind == OwnedKind::kConfigMap && map_ && map_->meta.uid == a.uid)
                         map_.reset();
                       if (a.kind == OwnedKind::kPodGroup && group_ && group_->meta.uid == a.uid)
                         group_.reset();
                       const auto found = pods_.find(a.key.name);
                       if (a.kind != OwnedKind::kPod || found == pods_.end()) return true;
                       api::Pod& pod = found->second.pod;
                       if (pod.meta.uid != a.uid) return true;
                       if (pod.node.empty() || a.force) {
                         pods_.erase(found);
                       } else if (!pod.meta.deleting()) {
                         pod.meta.deleted = now_ + std::chrono::seconds{30};
                       }
                       return true;
                     },
                     [&](const Replace& a) {
                       const api::Meta meta = *api::decode_meta(*a.manifest);
                       if (!map_ || map_->meta.resource_version != meta.resource_version)
                         return false;
                       map_->meta.annotations = meta.annotations;
                       map_->meta.resource_version = std::to_string(++version_);
                       map_->data.clear();
                       for (const auto& [key, value] : (*a.manifest)["data"].items())
                         map_->data[key] = value;
                       return true;
                     },
                     [&](const ReleasePod& a) {
                       const auto found = pods_.find(a.key.name);
                       if (found == pods_.end() || found->second.pod.meta.uid != a.uid)
                         return false;
                       promise(!api::paddle_job_phase::is_final(job_.status.phase) || lenient_,
                               a.key.name + " released after the end");
                       found->second.pod.meta.annotations[kReleaseAnnotation] = a.value;
                       found->second.pod.meta.annotations[kReleasedAtAnnotation] = a.stamp;
                       return true;
                     },
                     [&](const Patch& a) {
                       return a.kind == OwnedKind::kPodGroup ? change_group(a) : stop(a);
                     },
                     [&](const SetHostPortAnnotation& a) {
                       if (a.port > 0) {
                         job_.meta.annotations[kHostPortAnnotation] = std::to_string(a.port);
                       } else {
                         job_.meta.annotations.erase(kHostPortAnnotation);
                       }
                       return true;
                     },
                     [&](const SuspendForQueue&) {
                       job_.meta.annotations[kQueuedAnnotation] = "true";
                       job_.spec.suspend = true;
                       return true;
                     },
                     [&](const RemoveFinalizer&) {
                       job_.meta.finalizers.clear();
                       return true;
                     },
                     [&](const DeleteJob&) {
                       job_.meta.deleted = now_;
                       return true;
                     },
                     [&](const WriteElasticReplicas& a) {
                       if (a.revision != replicas_.revision) return false;
                       replicas_ = {.value = a.value, .revision = ++version_};
                       return true;
                     },
                     [&](const CleanElasticState&) {
                       replicas_ = {.revision = 0};
                       return true;
                     },
                     [&](const ForgetElasticState&) {
                       replicas_ = {.revision = 0};
                       return true;
                     },
                 },
                 action);
  changed(true);
  return done;
}

bool ModelCluster::start(ModelPod& entry) {
  api::Pod& pod = entry.pod;
  const std::string name = pod.meta.key.name;
  const std::int64_t epoch = epoch_of(pod.meta);
  const ReplicaGroup group = group_of(entry);
  if (!entry.elastic) {
    promise(map_.has_value(), name + " would show CreateContainerConfigError");
    if (!map_) return false;
    promise(epoch_of(map_->meta) == epoch, name + " started with the peers of another epoch");
    entry.env = map_->data;
    const std::string host = job_.spec.intranet == "Service" ? name : pod.ip;
    const std::string self = host + ":" + map_->data.at("PADDLE_PORT");
    const auto list = map_->data.find(list_of(group.kind));
    promise(has_no_peers(job_.spec) ||
                (list != map_->data.end() && list->second.find(self) != std::string::npos),
            name + " is not in the list of its peers");
    for (const auto& [other_name, other] : pods_) {
      if (&other == &entry) continue;
      promise(!program_runs(other.pod) || other.env == entry.env,
              name + " and " + other_name + " have different environments");
      promise(!goes_before(job_.spec, group_of(other), group) || other.once_ran ||
                  other.pod.meta.deleting() || went_before_.contains({epoch, group.position}),
              name + " started before " + other_name);
    }
  }
  for (const auto& [other_name, other] : pods_) {
    promise(lenient_ || !program_runs(other.pod) || other.image == entry.image,
            name + " and " + other_name + " have different templates");
  }
  entry.once_ran = true;
  went_before_.insert({epoch, group.position});
  pod.phase = api::PodPhase::kRunning;
  if (!entry.elastic) {
    pod.init_containers = {{.name = kCoordinator, .ready = true, .state = State::kTerminated}};
  }
  pod.containers = {{.name = "c", .ready = true, .state = State::kRunning}};
  return true;
}

// What a kubelet does with a pod that was stopped, or whose program has crashed.
bool ModelCluster::ends_or_restarts(ModelPod& entry, WallTime now) {
  api::Pod& pod = entry.pod;
  if (pod.active_deadline_seconds > 0) {
    pod.phase = api::PodPhase::kFailed;
    pod.reason = "DeadlineExceeded";
    pod.containers = {{.name = "c", .state = State::kTerminated, .exit_code = 137, .ended = now}};
    return true;
  }
  if (!crashed(pod)) return false;
  api::ContainerStatus& container = pod.containers[0];
  container.ready = true;
  container.state = State::kRunning;
  container.restarts += 1;
  container.reason.clear();
  return true;
}

bool ModelCluster::step(ModelPod& entry, Random& random) {
  api::Pod& pod = entry.pod;
  if (pod.meta.deleting()) return false;  // progress() ends it
  if (ended(pod)) return false;
  if (pod.node.empty()) {
    pod.node = "node" + std::to_string(random.below(3));
    return true;
  }
  if (pod.ip.empty()) {
    pod.ip =
        "10.1." + std::to_string(addresses_ / 200) + "." + std::to_string(addresses_ % 200 + 1);
    ++addresses_;
    if (!entry.elastic) {
      pod.init_containers = {{.name = kCoordinator, .state = State::kRunning}};
    }
    pod.containers = {{.name = "c", .reason = "PodInitializing"}};
    return true;
  }
  if (ends_or_restarts(entry, now_)) return true;
  if (program_runs(pod)) {
    if (!programs_end_ || !ends_by_itself(group_of(entry))) return false;
    pod.phase = api::PodPhase::kSucceeded;
    pod.containers = {{.name = "c", .state = State::kTerminated, .ended = now_}};
    return true;
  }
  const auto release = pod.meta.annotations.find(kReleaseAnnotation);
  const std::string awaited = std::to_string(epoch_of(pod.meta)) + "/" + pod.ip;
  const bool released = release != pod.meta.annotations.end() && release->second == awaited;
  return (entry.elastic || released) && start(entry);
}

bool ModelCluster::progress(Random& random) {
  if (group_ && group_->phase == "Pending") {
    group_->phase = "Inqueue";
    changed();
    return true;
  }
  std::vector<std::string> names;
  for (const auto& [name, entry] : pods_) names.push_back(name);
  for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random.below(i)]);
  for (const std::string& name : names) {
    ModelPod& entry = pods_.at(name);
    if (entry.pod.meta.deleting()) {
      pods_.erase(name);
    } else if (!step(entry, random)) {
      continue;
    }
    changed();
    return true;
  }
  return false;
}

// A pod that ran is created again: from now on groups after its own may start before it.
void ModelCluster::lose(const ModelPod& entry) {
  ++lost_;
  if (!entry.once_ran) return;
  const ReplicaGroup lost = group_of(entry);
  for (const ReplicaGroup& group : replica_groups(job_.spec)) {
    if (goes_before(job_.spec, lost, group)) {
      went_before_.insert({epoch_of(entry.pod.meta), group.position});
    }
  }
}

// By name, also after its group has become smaller.
ReplicaGroup ModelCluster::group_of(const ModelPod& entry) const {
  const std::string& name = entry.pod.meta.key.name;
  const std::string without_index = name.substr(0, name.rfind('-'));
  for (const ReplicaGroup& group : replica_groups(job_.spec)) {
    if (without_index == job_.meta.key.name + "-" + group.name) return group;
  }
  ADD_FAILURE() << name << " belongs to no group";
  return {};
}

ModelCluster::ModelPod* ModelCluster::pick(Random& random, bool only_running) {
  std::vector<ModelPod*> choice;
  for (auto& [name, entry] : pods_) {
    if (entry.pod.meta.deleting() || ended(entry.pod)) continue;
    if (!only_running || program_runs(entry.pod)) choice.push_back(&entry);
  }
  return choice.empty() ? nullptr : choice[random.below(choice.size())];
}

void ModelCluster::fail_one(Random& random) {
  ModelPod* entry = pick(random, true);
  if (!entry || entry->elastic) return;  // elastic pods restart in place
  entry->pod.phase = api::PodPhase::kFailed;
  entry->pod.containers = {
      {.name = "c", .state = State::kTerminated, .exit_code = 1, .ended = now_}};
  changed();
}

void ModelCluster::crash_one(Random& random) {
  ModelPod* entry = pick(random, true);
  if (!entry || !entry->restarts_in_place) return;
  api::ContainerStatus& container = entry->pod.containers[0];
  container.ready = false;
  container.state = State::kWaiting;
  container.reason = "CrashLoopBackOff";
  container.last_exit_code = 1;
  container.last_reason = "Error";
  changed();
}

void ModelCluster::evict_one(Random& random) {
  ModelPod* entry = pick(random, false);
  if (!entry) return;
  lose(*entry);
  entry->pod.phase = api::PodPhase::kFailed;
  entry->pod.reason = "Evicted";
  entry->pod.disrupted = true;
  entry->pod.containers.clear();
  changed();
}

void ModelCluster::delete_one(Random& random) {
  ModelPod* entry = pick(random, false);
  if (!entry) return;
  lose(*entry);
  entry->pod.meta.deleted = now_;
  entry->pod.containers.clear();
  changed();
}

void ModelCluster::move_one(Random& random) {
  ModelPod* entry = pick(random, false);
  if (!entry || entry->pod.ip.empty() || entry->elastic) return;
  lose(*entry);
  entry->pod.ip.clear();
  entry->pod.phase = api::PodPhase::kPending;
  entry->pod.init_containers.clear();
  entry->pod.containers.clear();
  entry->env.clear();
  entry->once_ran = false;
  changed();
}

bool ModelCluster::ends_by_itself(const ReplicaGroup& group) {
  return group.kind != RoleKind::kPs && group.kind != RoleKind::kHeter;
}

void ModelCluster::finish_one(Random& random) {
  ModelPod* entry = pick(random, true);
  if (!entry || !ends_by_itself(group_of(*entry))) return;
  entry->pod.phase = api::PodPhase::kSucceeded;
  entry->pod.containers = {{.name = "c", .state = State::kTerminated, .ended = now_}};
  changed();
}

void ModelCluster::remove_finished(Random& random, bool stored) {
  const std::set<std::string> known = finished_pods(job_.status);
  std::vector<std::string> choice;
  for (const auto& [name, entry] : pods_) {
    if (entry.pod.phase != api::PodPhase::kSucceeded) continue;
    const bool recorded = known.contains(name) && epoch_of(entry.pod.meta) == job_.status.epoch;
    if (recorded || !stored) choice.push_back(name);
  }
  if (choice.empty()) return;
  const auto removed = pods_.find(choice[random.below(choice.size())]);
  if (!known.contains(removed->first)) lose(removed->second);
  pods_.erase(removed);  // at once: there is no program to stop
  changed();
}

std::set<std::string> ModelCluster::finished_pods(const api::PaddleJobStatus& status) const {
  const CompletedIndexes completed = completed_indexes_of(status);
  std::set<std::string> names;
  for (const ReplicaGroup& group : replica_groups(job_.spec)) {
    const auto found = completed.groups.find(group.name);
    if (found == completed.groups.end()) continue;
    const auto which = parse_indexes(found->second, group.replicas);
    for (int i = 0; i < group.replicas; ++i) {
      if (which[static_cast<size_t>(i)]) names.insert(pod_name(job_, group, i));
    }
  }
  return names;
}

int ModelCluster::departed() const {
  const auto names = finished_pods(job_.status);
  return static_cast<int>(
      std::ranges::count_if(names, [&](const std::string& name) { return !pods_.contains(name); }));
}

void ModelCluster::edit(const std::function<void(api::PaddleJobSpec&)>& change) {
  change(job_.spec);
  ++job_.meta.generation;
  job_.meta.resource_version = std::to_string(++version_);
  changed();
}

void ModelCluster::edit_templates(Random& random) {
  const std::string image = "image-" + std::to_string(random.below(3));
  edit([&](api::PaddleJobSpec& spec) {
    for (const ReplicaGroup& group : replica_groups(spec)) {
      api::Role* role = role_of(spec, group);
      api::Json pod_template = *role->pod_template;
      pod_template["spec"]["containers"][0]["image"] = image;
      role->pod_template = api::Opaque(pod_template);
    }
  });
}

void ModelCluster::request_restart() {
  job_.meta.resource_version = std::to_string(++version_);
  job_.meta.annotations[kRestartAnnotation] = job_.meta.resource_version;
  changed();
}

int ModelCluster::outdated() const {
  int count = 0;
  for (const auto& [name, entry] : pods_) {
    const std::string current = image_in(*group_of(entry).pod_template);
    if (!ended(entry.pod) && entry.image != current) ++count;
  }
  return count;
}

std::optional<std::int64_t> ModelCluster::gang_size() const {
  if (!group_) return std::nullopt;
  return api::look_integer(*group_->spec, "minMember");
}

bool ModelCluster::any_program_runs() const {
  return std::ranges::any_of(pods_,
                             [](const auto& entry) { return program_runs(entry.second.pod); });
}

}  // namespace paddle::controllers::paddle_job
