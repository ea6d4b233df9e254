// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/model_cluster.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/match.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/progress.h"

namespace paddle::controllers {
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

// Whether nobody of `later` may start before all of `first` have, as users were told.
bool goes_before(const api::PaddleJobSpec& spec, const Part& first, const Part& later) {
  if (spec.tasks.empty() || spec.start_in_order == 1) return first.place < later.place;
  return first.kind == RoleKind::kPs && later.kind != RoleKind::kPs;
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
  World seen;
  for (const auto& [name, held] : pods_) {
    seen.pods.push_back(std::make_shared<const api::Pod>(held.pod));
  }
  for (const auto& [name, service] : services_) seen.services.push_back(service);
  seen.rendezvous = map_;
  seen.pod_group = group_;
  since_own_write_ = by_operator ? 0 : since_own_write_ + 1;
  old_worlds_.push_front(std::move(seen));
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

void ModelCluster::promise(bool kept, const std::string& text) {
  if (!kept && broken_.empty()) broken_ = text;
}

bool ModelCluster::store_status(const api::PaddleJob& seen, const api::PaddleJobStatus& status) {
  if (seen.meta.resource_version != job_.meta.resource_version) return false;
  promise(!finished(job_.status.phase) || status.phase == job_.status.phase || job_.meta.deleting(),
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

void ModelCluster::create(const Create& a, const api::PaddleJob& seen) {
  const api::Meta meta = *api::decode_meta(*a.manifest);
  promise(meta.controller() && meta.controller()->uid == seen.meta.uid, "an object without owner");
  if (a.child == Child::kService) {
    services_.try_emplace(a.key.name, ServiceSeen{.meta = meta}).first->second.meta.uid = "s";
    return;
  }
  if (a.child == Child::kConfigMap) {
    if (map_) return;
    map_ = RendezvousMap{.meta = meta};
    map_->meta.uid = "map" + std::to_string(++uids_);
    map_->meta.resource_version = std::to_string(++version_);
    for (const auto& [key, value] : (*a.manifest)["data"].items()) map_->data[key] = value;
    return;
  }
  if (a.child == Child::kPodGroup) {
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
          a.key.name + " was made before its gang was let in");
  promise(!job_.meta.deleting(), "a pod was made for a deleted job");
  promise(lenient_ || epoch_of(meta) != job_.status.epoch ||
              !finished_pods(job_.status).contains(a.key.name),
          a.key.name + " was made again although it had succeeded");
  Held& held = pods_[a.key.name];
  held.pod.meta = meta;
  held.pod.meta.uid = "pod" + std::to_string(++uids_);
  held.pod.meta.created = now_;
  held.elastic = api::look(*a.manifest, "/spec/initContainers").is_null();
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

bool ModelCluster::carry_out(const Action& action, const api::PaddleJob& seen) {
  const bool done = std::visit(
      Match{
          [&](const Create& a) {
            create(a, seen);
            return true;
          },
          [&](const Delete& a) {
            if (a.child == Child::kService) services_.erase(a.key.name);
            if (a.child == Child::kConfigMap && map_ && map_->meta.uid == a.uid) map_.reset();
            if (a.child == Child::kPodGroup && group_ && group_->meta.uid == a.uid) group_.reset();
            const auto found = pods_.find(a.key.name);
            if (a.child != Child::kPod || found == pods_.end()) return true;
            api::Pod& pod = found->second.pod;
            if (pod.meta.uid != a.uid) return true;
            if (pod.node.empty() || a.at_once) {
              pods_.erase(found);
            } else if (!pod.meta.deleting()) {
              pod.meta.deleted = now_ + std::chrono::seconds{30};
            }
            return true;
          },
          [&](const Replace& a) {
            const api::Meta meta = *api::decode_meta(*a.manifest);
            if (!map_ || map_->meta.resource_version != meta.resource_version) return false;
            map_->meta.annotations = meta.annotations;
            map_->meta.resource_version = std::to_string(++version_);
            map_->data.clear();
            for (const auto& [key, value] : (*a.manifest)["data"].items()) map_->data[key] = value;
            return true;
          },
          [&](const Release& a) {
            const auto found = pods_.find(a.key.name);
            if (found == pods_.end() || found->second.pod.meta.uid != a.uid) return false;
            promise(!finished(job_.status.phase) || lenient_, a.key.name + " let go after the end");
            found->second.pod.meta.annotations[kReleaseAnnotation] = a.value;
            found->second.pod.meta.annotations[kReleasedAtAnnotation] = a.stamp;
            return true;
          },
          [&](const Patch& a) { return a.child != Child::kPodGroup || change_group(a); },
          [&](const DropFinalizer&) {
            job_.meta.finalizers.clear();
            return true;
          },
          [&](const DeleteJob&) {
            job_.meta.deleted = now_;
            return true;
          },
      },
      action);
  changed(true);
  return done;
}

bool ModelCluster::start(Held& held) {
  api::Pod& pod = held.pod;
  const std::string name = pod.meta.key.name;
  const std::int64_t epoch = epoch_of(pod.meta);
  const Part part = part_of(held);
  if (!held.elastic) {
    promise(map_.has_value(), name + " would show CreateContainerConfigError");
    if (!map_) return false;
    promise(epoch_of(map_->meta) == epoch, name + " started with the peers of another epoch");
    held.told = map_->data;
    const std::string host = job_.spec.intranet == "Service" ? name : pod.ip;
    const std::string self = host + ":" + map_->data.at("PADDLE_PORT");
    const auto list = map_->data.find(list_of(part.kind));
    promise(each_for_itself(job_.spec) ||
                (list != map_->data.end() && list->second.find(self) != std::string::npos),
            name + " is not in the list of its peers");
    for (const auto& [other_name, other] : pods_) {
      if (&other == &held) continue;
      promise(!program_runs(other.pod) || other.told == held.told,
              name + " and " + other_name + " were told different things");
      promise(!goes_before(job_.spec, part_of(other), part) || other.once_ran ||
                  other.pod.meta.deleting() || went_before_.contains({epoch, part.place}),
              name + " started before " + other_name);
    }
  }
  held.once_ran = true;
  went_before_.insert({epoch, part.place});
  pod.phase = api::PodPhase::kRunning;
  if (!held.elastic) {
    pod.init_containers = {{.name = kCoordinator, .ready = true, .state = State::kTerminated}};
  }
  pod.containers = {{.name = "c", .ready = true, .state = State::kRunning}};
  return true;
}

bool ModelCluster::step(Held& held, Random& random) {
  api::Pod& pod = held.pod;
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
    if (!held.elastic) {
      pod.init_containers = {{.name = kCoordinator, .state = State::kRunning}};
    }
    pod.containers = {{.name = "c", .reason = "PodInitializing"}};
    return true;
  }
  if (program_runs(pod)) {
    if (!programs_end_ || !ends_by_itself(part_of(held))) return false;
    pod.phase = api::PodPhase::kSucceeded;
    pod.containers = {{.name = "c", .state = State::kTerminated, .ended = now_}};
    return true;
  }
  const auto said = pod.meta.annotations.find(kReleaseAnnotation);
  const std::string awaited = std::to_string(epoch_of(pod.meta)) + "/" + pod.ip;
  const bool let_go = said != pod.meta.annotations.end() && said->second == awaited;
  return (held.elastic || let_go) && start(held);
}

bool ModelCluster::progress(Random& random) {
  if (group_ && group_->phase == "Pending") {
    group_->phase = "Inqueue";
    changed();
    return true;
  }
  std::vector<std::string> names;
  for (const auto& [name, held] : pods_) names.push_back(name);
  for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random.below(i)]);
  for (const std::string& name : names) {
    Held& held = pods_.at(name);
    if (held.pod.meta.deleting()) {
      pods_.erase(name);
    } else if (!step(held, random)) {
      continue;
    }
    changed();
    return true;
  }
  return false;
}

// One that ran is being made again: from here on those behind it may be ahead of it.
void ModelCluster::lose(const Held& held) {
  ++lost_;
  if (!held.once_ran) return;
  const Part lost = part_of(held);
  for (const Part& part : parts_of(job_.spec)) {
    if (goes_before(job_.spec, lost, part)) {
      went_before_.insert({epoch_of(held.pod.meta), part.place});
    }
  }
}

// By name, also after its part became smaller.
Part ModelCluster::part_of(const Held& held) const {
  const std::string& name = held.pod.meta.key.name;
  const std::string without_index = name.substr(0, name.rfind('-'));
  for (const Part& part : parts_of(job_.spec)) {
    if (without_index == job_.meta.key.name + "-" + part.name) return part;
  }
  ADD_FAILURE() << name << " is of no part";
  return {};
}

ModelCluster::Held* ModelCluster::pick(Random& random, bool only_running) {
  std::vector<Held*> choice;
  for (auto& [name, held] : pods_) {
    if (held.pod.meta.deleting() || ended(held.pod)) continue;
    if (!only_running || program_runs(held.pod)) choice.push_back(&held);
  }
  return choice.empty() ? nullptr : choice[random.below(choice.size())];
}

void ModelCluster::fail_one(Random& random) {
  Held* held = pick(random, true);
  if (!held || held->elastic) return;  // those restart in place
  held->pod.phase = api::PodPhase::kFailed;
  held->pod.containers = {
      {.name = "c", .state = State::kTerminated, .exit_code = 1, .ended = now_}};
  changed();
}

void ModelCluster::evict_one(Random& random) {
  Held* held = pick(random, false);
  if (!held) return;
  lose(*held);
  held->pod.phase = api::PodPhase::kFailed;
  held->pod.reason = "Evicted";
  held->pod.disrupted = true;
  held->pod.containers.clear();
  changed();
}

void ModelCluster::delete_one(Random& random) {
  Held* held = pick(random, false);
  if (!held) return;
  lose(*held);
  held->pod.meta.deleted = now_;
  held->pod.containers.clear();
  changed();
}

void ModelCluster::move_one(Random& random) {
  Held* held = pick(random, false);
  if (!held || held->pod.ip.empty() || held->elastic) return;
  lose(*held);
  held->pod.ip.clear();
  held->pod.phase = api::PodPhase::kPending;
  held->pod.init_containers.clear();
  held->pod.containers.clear();
  held->told.clear();
  held->once_ran = false;
  changed();
}

bool ModelCluster::ends_by_itself(const Part& part) {
  return part.kind != RoleKind::kPs && part.kind != RoleKind::kHeter;
}

void ModelCluster::finish_one(Random& random) {
  Held* held = pick(random, true);
  if (!held || !ends_by_itself(part_of(*held))) return;
  held->pod.phase = api::PodPhase::kSucceeded;
  held->pod.containers = {{.name = "c", .state = State::kTerminated, .ended = now_}};
  changed();
}

void ModelCluster::remove_finished(Random& random, bool stored) {
  const std::set<std::string> known = finished_pods(job_.status);
  std::vector<std::string> choice;
  for (const auto& [name, held] : pods_) {
    if (held.pod.phase != api::PodPhase::kSucceeded) continue;
    const bool said = known.contains(name) && epoch_of(held.pod.meta) == job_.status.epoch;
    if (said || !stored) choice.push_back(name);
  }
  if (choice.empty()) return;
  const auto removed = pods_.find(choice[random.below(choice.size())]);
  if (!known.contains(removed->first)) lose(removed->second);
  pods_.erase(removed);  // at once: there is no program to wait for
  changed();
}

std::set<std::string> ModelCluster::finished_pods(const api::PaddleJobStatus& status) const {
  const Successes successes = successes_in(status);
  std::set<std::string> names;
  for (const Part& part : parts_of(job_.spec)) {
    const auto found = successes.parts.find(part.name);
    if (found == successes.parts.end()) continue;
    const auto which = parse_indexes(found->second, part.replicas);
    for (int i = 0; i < part.replicas; ++i) {
      if (which[static_cast<size_t>(i)]) names.insert(pod_name(job_, part, i));
    }
  }
  return names;
}

int ModelCluster::left() const {
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

std::optional<std::int64_t> ModelCluster::group_asks() const {
  if (!group_) return std::nullopt;
  return api::look_integer(*group_->spec, "minMember");
}

bool ModelCluster::anybody_runs() const {
  return std::ranges::any_of(pods_,
                             [](const auto& entry) { return program_runs(entry.second.pod); });
}

}  // namespace paddle::controllers
