// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/rendezvous.h"

#include <nlohmann/json.hpp>

#include "api/look.h"
#include "controllers/paddle_job/host_ports.h"
#include "controllers/paddle_job/owner.h"

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
std::string device_of(const api::Role& role) {
  if (!role.pod_template) return "cpu";
  const api::Json& containers = api::look(*role.pod_template, "/spec/containers");
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

void tell_of_workers(const std::vector<std::string>& workers, int port, Data& data) {
  data["PADDLE_TRAINERS"] = joined(workers, [](const auto& a) { return a; });
  data["PADDLE_TRAINERS_NUM"] = std::to_string(workers.size());
  if (workers.empty()) return;
  // What the launcher of Paddle 2.3 and later reads.
  data["PADDLE_MASTER"] = endpoint(workers.front(), port);
  data["PADDLE_NNODES"] = std::to_string(workers.size());
}

}  // namespace

bool by_service(const api::PaddleJobSpec& spec) { return spec.intranet == "Service"; }

int port_of(const api::PaddleJob& job) {
  return on_host_network(job.spec) ? remembered_port(job) : kFirstPort;
}

Addresses addresses(const api::PaddleJob& job, const Roster& roster) {
  Addresses out;
  for (const Bench& bench : roster.benches) {
    auto& list = out[bench.part.kind];
    for (size_t i = 0; i < bench.seats.size(); ++i) {
      const api::Pod* pod = bench.seats[i];
      list.push_back(by_service(job.spec) ? pod_name(job, bench.part.kind, static_cast<int>(i))
                                          : (pod ? pod->ip : std::string()));
    }
  }
  return out;
}

std::string endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

Data rendezvous_data(const api::PaddleJob& job, const Addresses& addresses) {
  const int port = port_of(job);
  const auto of = [&](RoleKind kind) -> std::vector<std::string> {
    const auto found = addresses.find(kind);
    return found == addresses.end() ? std::vector<std::string>{} : found->second;
  };
  const auto endpoints = [&](RoleKind kind) {
    return joined(of(kind), [&](const auto& a) { return endpoint(a, port); });
  };
  Data data{
      {"TRAINER_PORTS_NUM", std::to_string(kPortsPerJob)},
      {"PADDLE_PORT", std::to_string(port)},
      {"PADDLE_JOB_ID", job.meta.key.ns + "-" + job.meta.key.name},
  };
  if (job.spec.ps) data["PADDLE_PSERVERS_IP_PORT_LIST"] = endpoints(RoleKind::kPs);
  if (job.spec.worker) {
    data["PADDLE_TRAINER_ENDPOINTS"] = endpoints(RoleKind::kWorker);
    tell_of_workers(of(RoleKind::kWorker), port, data);
  }
  if (job.spec.heter) {
    data["PADDLE_HETER_ENDPOINTS"] = endpoints(RoleKind::kHeter);
    data["PADDLE_HETER_TRAINER_IP_PORT_LIST"] = endpoints(RoleKind::kHeter);
    data["PADDLE_HETER_TRAINER_DEVICE"] = device_of(*job.spec.heter);
  }
  if (const auto servers = of(RoleKind::kPs);
      job.spec.with_gloo.value_or(0) > 0 && !servers.empty()) {
    data["PADDLE_WITH_GLOO"] = std::to_string(*job.spec.with_gloo);
    data["PADDLE_GLOO_RENDEZVOUS"] = "3";  // an HTTP store
    data["PADDLE_GLOO_HTTP_ENDPOINT"] = endpoint(servers.front(), port + kGlooOffset);
  }
  return data;
}

Data peers_in(const Data& data) {
  Data peers;
  for (const char* key :
       {"PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_HETER_ENDPOINTS"}) {
    if (const auto found = data.find(key); found != data.end()) peers.insert(*found);
  }
  return peers;
}

// Stored with running jobs: another way to write it would restart them all.
std::string shape_of(const api::PaddleJob& job) {
  std::string shape = job.spec.intranet.empty() ? "PodIP" : job.spec.intranet;
  shape += ":" + std::to_string(port_of(job));
  for (const RoleKind kind : kRoles) {
    if (!role_of(job.spec, kind)) continue;
    shape += "," + to_string(kind) + "=" + std::to_string(replicas_of(job.spec, kind));
  }
  if (const int gloo = job.spec.with_gloo.value_or(0); gloo > 0 && job.spec.ps) {
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
