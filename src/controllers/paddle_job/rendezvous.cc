// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/rendezvous.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/paddle_job/host_ports.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/pod_facts.h"

namespace paddle::controllers {
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
std::string device_of(const Part& part) {
  if (!part.pod_template) return "cpu";
  const api::Json& containers = api::look(*part.pod_template, "/spec/containers");
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
  Peers(std::vector<Part> parts, const Addresses& addresses)
      : parts_(std::move(parts)), addresses_(addresses) {}

  const Part* first(RoleKind kind) const {  // null: there is none
    const auto found = std::ranges::find(parts_, kind, &Part::kind);
    return found == parts_.end() ? nullptr : &*found;
  }
  std::vector<std::string> of(RoleKind kind) const {
    std::vector<std::string> all;
    for (const Part& part : parts_) {
      if (part.kind == kind) add(part, all);
    }
    return all;
  }
  std::map<std::string, std::vector<std::string>> by_type() const {  // of tasks
    std::map<std::string, std::vector<std::string>> all;
    for (const Part& part : parts_) {
      if (is_task(part)) add(part, all[part.type]);
    }
    return all;
  }
  std::string types() const {  // one for each pod
    std::string out;
    for (const Part& part : parts_) {
      for (int i = 0; i < part.replicas; ++i) out += (out.empty() ? "" : ",") + part.type;
    }
    return out;
  }

 private:
  void add(const Part& part, std::vector<std::string>& all) const {
    const auto found = addresses_.find(part.name);
    if (found == addresses_.end()) return;
    all.insert(all.end(), found->second.begin(), found->second.end());
  }

  const std::vector<Part> parts_;
  const Addresses& addresses_;
};

void tell_hosts_of_tasks(const Peers& peers, Data& data) {
  for (const auto& [type, some] : peers.by_type()) {
    data["PADDLE_" + type + "_HOST"] = joined(some, [](const auto& a) { return a; });
  }
}

void tell_of_workers(const std::vector<std::string>& workers, int port, Data& data) {
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

bool same_list(std::string_view told, std::string_view wanted) {
  while (!told.empty() && !wanted.empty()) {
    const std::string_view was = take_one(told);
    const std::string_view is = take_one(wanted);
    if (was != is && !is.starts_with(kLeft)) return false;
  }
  return told.empty() && wanted.empty();
}

bool same_peers(const Data& told, const Data& wanted) {
  return std::ranges::equal(peers_in(told), peers_in(wanted), [](const auto& a, const auto& b) {
    return a.first == b.first && same_list(a.second, b.second);
  });
}

}  // namespace

bool by_service(const api::PaddleJobSpec& spec) { return spec.intranet == "Service"; }

int port_of(const api::PaddleJob& job) {
  return on_host_network(job.spec) ? remembered_port(job) : kFirstPort;
}

Addresses addresses(const api::PaddleJob& job, const Roster& roster) {
  Addresses out;
  for (const Bench& bench : roster.benches) {
    auto& list = out[bench.part.name];
    for (size_t i = 0; i < bench.seats.size(); ++i) {
      const api::Pod* pod = bench.seats[i];
      if (by_service(job.spec)) {
        list.push_back(pod_name(job, bench.part, static_cast<int>(i)));
      } else if (pod) {
        list.push_back(pod->ip);
      } else {
        list.push_back(bench.done[i] ? kLeft : std::string());
      }
    }
  }
  return out;
}

bool is_published(const api::PaddleJob& job, const World& world) {
  return world.rendezvous && epoch_of(world.rendezvous->meta) == job.status.epoch;
}

bool knows_addresses(const api::PaddleJob& job, const Roster& roster, const World& world) {
  return by_service(job.spec) || left(roster) == 0 || is_published(job, world);
}

std::string endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

Data rendezvous_data(const api::PaddleJob& job, const Addresses& addresses) {
  const int port = port_of(job);
  Data data{
      {"TRAINER_PORTS_NUM", std::to_string(kPortsPerJob)},
      {"PADDLE_PORT", std::to_string(port)},
      {"PADDLE_JOB_ID", job.meta.key.ns + "-" + job.meta.key.name},
  };
  const Peers peers(parts_of(job.spec), addresses);
  if (each_for_itself(job.spec)) {
    if (mode_of(job.spec) == "Custom") tell_hosts_of_tasks(peers, data);
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
    tell_of_workers(peers.of(RoleKind::kWorker), port, data);
  }
  if (const Part* heter = peers.first(RoleKind::kHeter)) {
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

bool has_moved(const api::PaddleJob& job, const Roster& roster, const World& world) {
  if (!world.rendezvous || !world.rendezvous->meta.annotations.contains(kShapeAnnotation) ||
      without_address(roster) > 0) {
    return false;
  }
  const Data wanted = rendezvous_data(job, addresses(job, roster));
  return !same_peers(world.rendezvous->data, wanted);
}

// Stored with running jobs: another way to write it would restart them all.
std::string shape_of(const api::PaddleJob& job) {
  std::string shape = job.spec.intranet.empty() ? "PodIP" : job.spec.intranet;
  shape += ":" + std::to_string(port_of(job));
  for (const Part& part : parts_of(job.spec)) {
    shape += "," + part.name + "=" + std::to_string(part.replicas);
  }
  if (!job.spec.tasks.empty()) shape += ",mode=" + mode_of(job.spec);
  if (const int gloo = job.spec.with_gloo.value_or(0); gloo > 0 && has_servers(job.spec)) {
    shape += ",gloo=" + std::to_string(gloo);
  }
  return shape;
}

api::Json rendezvous_map(const api::PaddleJob& job, const Data& data) {
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

}  // namespace paddle::controllers
