// SPDX-License-Identifier: Apache-2.0
#include "test/walks/sample_environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "runtime/protocol/protocol.h"
#include "test/walks/embedded_cluster.h"

namespace paddle::walks {
namespace {

using kube::Json;
using kube::ObjectKey;
using runtime::JobState;
namespace kinds = kube::resources;

ObjectKey place_of(const Json& object) {
  return {api::look_text(object, "/metadata/namespace"), api::look_text(object, "/metadata/name")};
}

void set_status(kube::Cluster& cluster, const kube::Resource& resource, const Json& object,
                const Json& status) {
  if (api::look(object, "status") == status) return;
  (void)cluster.patch(resource, place_of(object), {.body = {{"status", status}}}, "status");
}

// A volume that was bound to a claim is not bound to another claim of the same name.
void bind(kube::Cluster& cluster, const Json& volume) {
  const Json& ref = api::look(volume, "/spec/claimRef");
  const auto claim =
      cluster.get(kinds::kClaims, {api::look_text(ref, "namespace"), api::look_text(ref, "name")});
  const std::string uid = claim ? api::look_text(*claim, "/metadata/uid") : "";
  const std::string wanted = api::look_text(ref, "uid");
  const bool fits = claim && (wanted.empty() || wanted == uid);
  const std::string phase = api::look_text(volume, "/status/phase");
  if (!fits && phase == "Bound") {
    set_status(cluster, kinds::kPersistentVolumes, volume, {{"phase", "Released"}});
  }
  if (!fits || (phase == "Bound" && api::look_text(*claim, "/status/phase") == phase)) return;
  (void)cluster.patch(kinds::kPersistentVolumes, place_of(volume),
                      {.body = {{"spec", {{"claimRef", {{"uid", uid}}}}}}});
  set_status(cluster, kinds::kPersistentVolumes, volume, {{"phase", "Bound"}});
  set_status(cluster, kinds::kClaims, *claim, {{"phase", "Bound"}});
}

void run_stateful_set(kube::Cluster& cluster, const Json& set) {
  const int wanted = static_cast<int>(api::look_integer(set, "/spec/replicas"));
  const ObjectKey key = place_of(set);
  for (int i = 0; i < wanted; ++i) {
    Json pod = api::look(set, "/spec/template");
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["name"] = key.name + "-" + std::to_string(i);
    pod["metadata"]["namespace"] = key.ns;
    pod["metadata"]["ownerReferences"] =
        Json::array({Json{{"apiVersion", "apps/v1"},
                          {"kind", "StatefulSet"},
                          {"name", key.name},
                          {"uid", api::look_text(set, "/metadata/uid")},
                          {"controller", true}}});
    pod["spec"]["nodeName"] = "node-" + std::to_string(i);
    const auto made = cluster.create(kinds::kPods, pod);
    if (!made) continue;
    Json containers = Json::array();
    for (const Json& each : api::look_list(pod, "/spec/containers")) {
      containers.push_back({{"name", api::look_text(each, "name")},
                            {"image", "i"},
                            {"imageID", ""},
                            {"restartCount", 0},
                            {"ready", true},
                            {"state", {{"running", Json::object()}}}});
    }
    set_status(cluster, kinds::kPods, *made,
               {{"phase", "Running"},
                {"podIP", "10.0.0." + std::to_string(i + 1)},
                {"conditions", Json::array({Json{{"type", "Ready"}, {"status", "True"}}})},
                {"containerStatuses", containers}});
  }
  for (const Json& pod : all(cluster, kinds::kPods)) {
    const std::string name = api::look_text(pod, "/metadata/name");
    const std::string prefix = key.name + "-";
    if (!name.starts_with(prefix) || name.ends_with("-format")) continue;
    if (std::stoi(name.substr(prefix.size())) < wanted) continue;
    (void)cluster.remove(kinds::kPods, place_of(pod), {.grace_seconds = 0});
  }
  set_status(cluster, kinds::kStatefulSets, set, {{"replicas", wanted}, {"readyReplicas", wanted}});
}

}  // namespace

runtime::RuntimePolls StepRuntimes::polls() {
  return [this](runtime::PollCall call, runtime::PollDone done) { done(poll(call)); };
}

runtime::RuntimeSends StepRuntimes::sends() {
  return [this](runtime::JobCall call, runtime::SendDone done) {
    send(call);
    done(Done{});
  };
}

std::vector<std::string> StepRuntimes::requests() const {
  Lock lock(mutex_);
  return requests_;
}

void StepRuntimes::forget_requests() {
  Lock lock(mutex_);
  requests_.clear();
}

void StepRuntimes::stop_working(bool stopped) {
  Lock lock(mutex_);
  stopped_ = stopped;
}

runtime::PollReport StepRuntimes::poll(const runtime::PollCall& call) {
  Lock lock(mutex_);
  runtime::PollReport report;
  report.jobs.emplace();
  auto& jobs = jobs_[call.address];
  bool warm = false;
  for (auto& [id, job] : jobs) {
    const bool seen = !seen_.insert(call.address + " " + id).second;
    if (seen && !stopped_ && !runtime::ended(job.state)) job.state = JobState::kSucceeded;
    if (job.kind == runtime::JobKind::kSync && job.state == JobState::kSucceeded) synced_ = true;
    if (job.kind == runtime::JobKind::kWarmup) {
      warm = warm || job.state == JobState::kSucceeded;
      if (!report.status.last_warm_up) report.status.last_warm_up.emplace().ended = true;
      auto& last = *report.status.last_warm_up;
      last.ended = last.ended && runtime::ended(job.state);
    }
    report.jobs->push_back(job);
  }
  report.status.cache.life = call.address;
  report.status.part_bytes = 100;
  report.status.part_cached_bytes = report.status.cache.bytes = warm ? 100 : 0;
  if (synced_) {
    report.status.index = runtime::IndexReport{
        .generation = 1, .digest = "d", .files = 10, .bytes = 100, .synced = 1};
  }
  return report;
}

void StepRuntimes::send(const runtime::JobCall& call) {
  Lock lock(mutex_);
  auto& jobs = jobs_[call.address];
  if (!call.request) {
    const auto found = jobs.find(call.id);
    if (found != jobs.end() && !runtime::ended(found->second.state)) {
      found->second.state = JobState::kCancelled;
    }
    return;
  }
  runtime::JobReport report{.id = call.id, .kind = call.request->kind, .state = JobState::kRunning};
  if (call.request->sync.parts > 1) {
    const auto& sync = call.request->sync;
    report.progress.cut = "cut-" + (sync.division.empty() ? call.id : sync.division);
  }
  if (!jobs.try_emplace(call.id, report).second) return;
  requests_.push_back(call.address + " " + runtime::encode(*call.request).dump());
}

void run_environment(kube::Cluster& cluster) {
  for (const Json& volume : all(cluster, kinds::kPersistentVolumes)) bind(cluster, volume);
  for (const Json& set : all(cluster, kinds::kStatefulSets)) run_stateful_set(cluster, set);
  for (const Json& pod : all(cluster, kinds::kPods)) {
    if (pod["metadata"].contains("deletionTimestamp")) {
      (void)cluster.remove(kinds::kPods, place_of(pod), {.grace_seconds = 0});
    } else if (place_of(pod).name.ends_with("-format")) {  // a volume is prepared
      set_status(cluster, kinds::kPods, pod, {{"phase", "Succeeded"}});
    }
  }
}

void make_object(kube::Cluster& cluster, const kube::Resource& resource, Json object) {
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  const Json status = object.value("status", Json());
  object.erase("status");
  const auto made = cluster.create(resource, object);
  ASSERT_TRUE(made) << made.error().message;
  if (status.is_null()) return;
  Json next = *made;
  next["status"] = status;
  const auto written = cluster.update(resource, next, "status");
  ASSERT_TRUE(written) << written.error().message;
}

}  // namespace paddle::walks
