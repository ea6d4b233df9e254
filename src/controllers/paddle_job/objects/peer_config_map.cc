// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/peer_config_map.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/spec/host_ports.h"

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

// What Paddle wants to know of heterogeneous trainers: "gpu" or "cpu".
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

using Data = std::map<std::string, std::string>;

// The addresses of a job's parts, by what they are.
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

void add_task_hosts(const Peers& peers, Data& data) {
  for (const auto& [type, some] : peers.by_type()) {
    data["PADDLE_" + type + "_HOST"] = joined(some, [](const auto& a) { return a; });
  }
}

void add_worker_lists(const std::vector<std::string>& workers, int port, Data& data) {
  data["PADDLE_TRAINERS"] = joined(workers, [](const auto& a) { return a; });
  data["PADDLE_TRAINERS_NUM"] = std::to_string(workers.size());
  if (workers.empty()) return;
  // What the launcher of Paddle 2.3 and later reads.
  data["PADDLE_MASTER"] = endpoint(workers.front(), port);
  data["PADDLE_NNODES"] = std::to_string(workers.size());
}

Data peers_in(const Data& data) {
  Data peers;
  for (const auto& [key, value] : data) {
    for (const char* list : {"_IP_PORT_LIST", "_ENDPOINTS", "_HOST"}) {
      if (key.ends_with(list)) peers[key] = value;
    }
  }
  return peers;
}

// What comes before the next comma; `list` is what comes after it.
std::string_view take_one(std::string_view& list) {
  const size_t comma = list.find(',');
  const std::string_view one = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return one;
}

bool same_list(std::string_view has_event, std::string_view wanted) {
  while (!has_event.empty() && !wanted.empty()) {
    const std::string_view was = take_one(has_event);
    const std::string_view is = take_one(wanted);
    if (was != is && !is.starts_with(kDeparted)) return false;
  }
  return has_event.empty() && wanted.empty();
}

bool same_peers(const Data& has_event, const Data& wanted) {
  return std::ranges::equal(peers_in(has_event), peers_in(wanted),
                            [](const auto& a, const auto& b) {
                              return a.first == b.first && same_list(a.second, b.second);
                            });
}

}  // namespace

bool by_service(const api::PaddleJobSpec& spec) { return spec.intranet == "Service"; }

int port_of(const api::PaddleJob& job) {
  return on_host_network(job.spec) ? remembered_port(job) : kFirstPort;
}

Addresses addresses(const api::PaddleJob& job, const ReplicaSlots& slots) {
  Addresses out;
  for (const GroupSlots& group : slots.groups) {
    auto& list = out[group.spec.name];
    for (size_t i = 0; i < group.pods.size(); ++i) {
      const api::Pod* pod = group.pods[i];
      if (by_service(job.spec)) {
        list.push_back(pod_name(job, group.spec, static_cast<int>(i)));
      } else if (pod) {
        list.push_back(pod->ip);
      } else {
        list.push_back(group.done[i] ? kDeparted : std::string());
      }
    }
  }
  return out;
}

bool is_published(const api::PaddleJob& job, const World& world) {
  return world.peer_config && epoch_of(world.peer_config->meta) == job.status.epoch;
}

bool addresses_known(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world) {
  return by_service(job.spec) || departed(slots) == 0 || is_published(job, world);
}

std::string endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

Data peer_data(const api::PaddleJob& job, const Addresses& addresses) {
  const int port = port_of(job);
  Data data{
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
      if (type == "PS" || type == "HETER" || type == "TRAINER") continue;  // as above
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

bool address_changed(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world) {
  if (!world.peer_config || !world.peer_config->meta.annotations.contains(kShapeAnnotation) ||
      without_address(slots) > 0) {
    return false;
  }
  const Data wanted = peer_data(job, addresses(job, slots));
  return !same_peers(world.peer_config->data, wanted);
}

// Stored with running jobs: another way to write it would restart them all.
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

api::Json peer_config_map(const api::PaddleJob& job, const Data& data) {
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
