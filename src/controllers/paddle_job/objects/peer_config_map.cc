// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/peer_config_map.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/spec/host_ports.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {
namespace {

template <typename Each>
std::string joined(const std::vector<std::string>& addresses, Each each) {
  std::string out;
  for (const auto& address : addresses) {
    if (!out.empty()) out += ',';
    out += each(address);
  }
  return out;
}

// The device of heterogeneous trainers: "gpu" or "cpu".
std::string device_of(const ReplicaGroup& group) {
  if (!group.pod_template) return "cpu";
  const api::Json& containers = api::look(*group.pod_template, "/spec/containers");
  if (!containers.is_array()) return "cpu";
  for (const auto& container : containers) {
    for (const char* kind : {"/resources/limits", "/resources/requests"}) {
      const api::Json& wanted = api::look(container, kind);
      if (!wanted.is_object()) continue;
      for (const auto& [name, amount] : wanted.items()) {
        if (name.ends_with("/gpu")) return "gpu";
      }
    }
  }
  return "cpu";
}

// The addresses of all replica groups, by their kind.
class Peers {
 public:
  Peers(std::vector<ReplicaGroup> groups, const Addresses& addresses)
      : groups_(std::move(groups)), addresses_(addresses) {}

  const ReplicaGroup* first(RoleKind kind) const {  // null: there is none
    const auto found = std::ranges::find(groups_, kind, &ReplicaGroup::kind);
    return found == groups_.end() ? nullptr : &*found;
  }
  std::vector<std::string> of(RoleKind kind) const {
    std::vector<std::string> all;
    for (const ReplicaGroup& group : groups_) {
      if (group.kind == kind) add(group, all);
    }
    return all;
  }
  std::map<std::string, std::vector<std::string>> by_type() const {  // of tasks
    std::map<std::string, std::vector<std::string>> all;
    for (const ReplicaGroup& group : groups_) {
      if (is_task(group)) add(group, all[group.type]);
    }
    return all;
  }
  std::string types() const {  // one for each pod
    std::string out;
    for (const ReplicaGroup& group : groups_) {
      for (int i = 0; i < group.replicas; ++i) out += (out.empty() ? "" : ",") + group.type;
    }
    return out;
  }

 private:
  void add(const ReplicaGroup& group, std::vector<std::string>& all) const {
    const auto found = addresses_.find(group.name);
    if (found == addresses_.end()) return;
    all.insert(all.end(), found->second.begin(), found->second.end());
  }

  const std::vector<ReplicaGroup> groups_;
  const Addresses& addresses_;
};

void add_task_hosts(const Peers& peers, PeerData& data) {
  for (const auto& [type, some] : peers.by_type()) {
    data["PADDLE_" + type + "_HOST"] = joined(some, [](const auto& a) { return a; });
  }
}

void add_worker_lists(const std::vector<std::string>& workers, int port, PeerData& data) {
  data["PADDLE_TRAINERS"] = joined(workers, [](const auto& a) { return a; });
  data["PADDLE_TRAINERS_NUM"] = std::to_string(workers.size());
  if (workers.empty()) return;
  // For the launcher of Paddle 2.3 and later.
  data["PADDLE_MASTER"] = endpoint(workers.front(), port);
  data["PADDLE_NNODES"] = std::to_string(workers.size());
}

PeerData peers_in(const PeerData& data) {
  PeerData peers;
  for (const auto& [key, value] : data) {
    for (const char* list : {"_IP_PORT_LIST", "_ENDPOINTS", "_HOST"}) {
      if (key.ends_with(list)) peers[key] = value;
    }
  }
  return peers;
}

// Removes the first entry from `list` and returns it.
std::string_view take_one(std::string_view& list) {
  const size_t comma = list.find(',');
  const std::string_view one = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return one;
}

bool same_list(std::string_view stored, std::string_view current) {
  while (!stored.empty() && !current.empty()) {
    const std::string_view was = take_one(stored);
    const std::string_view is = take_one(current);
    if (was != is && !is.starts_with(kDeparted)) return false;
  }
  return stored.empty() && current.empty();
}

}  // namespace

bool same_peers(const PeerData& stored, const PeerData& current) {
  return std::ranges::equal(peers_in(stored), peers_in(current), [](const auto& a, const auto& b) {
    return a.first == b.first && same_list(a.second, b.second);
  });
}

std::string endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

PeerData peer_data(const api::PaddleJob& job, const Addresses& addresses) {
  const int port = port_of(job);
  PeerData data{
      {"TRAINER_PORTS_NUM", std::to_string(kPortsPerJob)},
      {"PADDLE_PORT", std::to_string(port)},
      {"PADDLE_JOB_ID", job.meta.key.ns + "-" + job.meta.key.name},
  };
  const Peers peers(replica_groups(job.spec), addresses);
  if (has_no_peers(job.spec)) {
    if (mode_of(job.spec) == "Custom") add_task_hosts(peers, data);
    return data;
  }
  const auto endpoints = [&](const std::vector<std::string>& some) {
    return joined(some, [&](const auto& a) { return endpoint(a, port); });
  };
  if (peers.first(RoleKind::kPs)) {
    data["PADDLE_PSERVERS_IP_PORT_LIST"] = endpoints(peers.of(RoleKind::kPs));
  }
  if (peers.first(RoleKind::kWorker)) {
    data["PADDLE_TRAINER_ENDPOINTS"] = endpoints(peers.of(RoleKind::kWorker));
    add_worker_lists(peers.of(RoleKind::kWorker), port, data);
  }
  if (const ReplicaGroup* heter = peers.first(RoleKind::kHeter)) {
    data["PADDLE_HETER_ENDPOINTS"] = endpoints(peers.of(RoleKind::kHeter));
    data["PADDLE_HETER_TRAINER_IP_PORT_LIST"] = endpoints(peers.of(RoleKind::kHeter));
    data["PADDLE_HETER_TRAINER_DEVICE"] = device_of(*heter);
  }
  if (mode_of(job.spec) == "Collective") {
    if (!job.spec.tasks.empty()) data["PADDLE_TRAINERS_TYPES"] = peers.types();
  } else {
    for (const auto& [type, some] : peers.by_type()) {
      if (type == "PS" || type == "HETER" || type == "TRAINER") continue;  // set above
      data["PADDLE_" + type + "_ENDPOINTS"] = endpoints(some);
    }
  }
  if (const auto servers = peers.of(RoleKind::kPs);
      job.spec.with_gloo.value_or(0) > 0 && !servers.empty()) {
    data["PADDLE_WITH_GLOO"] = std::to_string(*job.spec.with_gloo);
    data["PADDLE_GLOO_RENDEZVOUS"] = "3";  // an HTTP store
    data["PADDLE_GLOO_HTTP_ENDPOINT"] = endpoint(servers.front(), port + kGlooOffset);
  }
  return data;
}

// Stored with running jobs: a change of its format would restart all of them.
std::string shape_of(const api::PaddleJob& job) {
  std::string shape = job.spec.intranet.empty() ? "PodIP" : job.spec.intranet;
  shape += ":" + std::to_string(port_of(job));
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    shape += "," + group.name + "=" + std::to_string(group.replicas);
  }
  if (!job.spec.tasks.empty()) shape += ",mode=" + mode_of(job.spec);
  if (const int gloo = job.spec.with_gloo.value_or(0); gloo > 0 && has_servers(job.spec)) {
    shape += ",gloo=" + std::to_string(gloo);
  }
  return shape;
}

api::Json peer_config_map(const api::PaddleJob& job, const PeerData& data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           api::encode_meta(
               {.key = job.meta.key,
                .labels = {{kResNameLabel, job.meta.key.name}, {kJobNameLabel, job.meta.key.name}},
                .annotations = {{kEpochAnnotation, std::to_string(job.status.epoch)},
                                {kShapeAnnotation, shape_of(job)}},
                .owners = {owner_reference(job)}})},
          {"data", data}};
}

}  // namespace paddle::controllers::paddle_job
