// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/host_ports.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "base/stable_hash.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

constexpr int kHighestPort = 65535;

// 0 when it is no port.
int port_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 && value <= kHighestPort ? value : 0;
}

// The default range of Linux for outgoing connections.
constexpr int kFirstOutgoing = 32768;
constexpr int kLastOutgoing = 60999;

bool among_outgoing(int block) {
  return block <= kLastOutgoing && block + kPortsPerJob > kFirstOutgoing;
}

}  // namespace

int stored_port(const api::PaddleJob& job) {
  if (job.status.port > 0) return job.status.port;
  const auto found = job.meta.annotations.find(kHostPortAnnotation);
  const int port = found == job.meta.annotations.end() ? 0 : port_in(found->second);
  return port + kPortsPerJob - 1 <= kHighestPort ? port : 0;
}

std::optional<int> host_port_annotation(const api::PaddleJob& job) {
  const auto found = job.meta.annotations.find(kHostPortAnnotation);
  const bool is_written = found != job.meta.annotations.end() && job.status.port > 0 &&
                          found->second == std::to_string(job.status.port);
  if (!uses_host_network(job.spec)) return is_written ? std::optional(0) : std::nullopt;
  if (job.status.port == 0 || is_written) return std::nullopt;
  return job.status.port;
}

int port_of(const api::PaddleJob& job) {
  return uses_host_network(job.spec) ? stored_port(job) : kFirstPort;
}

int occupied_port(const api::PaddleJob& job) {
  const bool occupies =
      uses_host_network(job.spec) && !api::paddle_job_phase::is_final(job.status.phase);
  return occupies ? stored_port(job) : 0;
}

std::set<int> ports_taken(const std::vector<std::shared_ptr<const api::PaddleJob>>& jobs,
                          const std::string& self) {
  std::set<int> taken;
  for (const auto& job : jobs) {
    if (job->meta.uid == self) continue;
    if (const int port = occupied_port(*job); port > 0) taken.insert(port);
  }
  return taken;
}

bool overlaps(int block, const std::set<int>& taken) {
  const auto next = taken.upper_bound(block - kPortsPerJob);
  return next != taken.end() && *next < block + kPortsPerJob;
}

Result<int> choose_ports(const std::string& uid, const PortRange& range,
                         const std::set<int>& taken) {
  const int blocks = (range.last - range.first + 1) / kPortsPerJob;
  std::vector<int> preferred;
  std::vector<int> shared;
  for (int i = 0; i < blocks; ++i) {
    const int block = range.first + i * kPortsPerJob;
    (among_outgoing(block) ? shared : preferred).push_back(block);
  }
  for (const auto& some : {preferred, shared}) {
    const std::size_t start = some.empty() ? 0 : stable_hash(uid) % some.size();
    for (std::size_t i = 0; i < some.size(); ++i) {
      const int block = some[(start + i) % some.size()];
      if (!overlaps(block, taken)) return block;
    }
  }
  return Error{Code::kUnavailable,
               "all " + std::to_string(std::max(blocks, 0)) + " blocks of " +
                   std::to_string(kPortsPerJob) + " ports in " + std::to_string(range.first) + "-" +
                   std::to_string(range.last) +
                   " are in use by jobs on the host network; wait for one to end, or start "
                   "the operator with a wider --port-range"};
}

void add_host_network(Json& pod_spec, int first_port) {
  if (!pod_spec.is_object()) return;
  pod_spec["hostNetwork"] = true;
  const std::string dns = api::look_text(pod_spec, "dnsPolicy");
  if (dns.empty() || dns == "ClusterFirst") pod_spec["dnsPolicy"] = "ClusterFirstWithHostNet";

  const auto containers = pod_spec.find("containers");
  if (containers == pod_spec.end() || !containers->is_array() || containers->empty()) return;
  if (!containers->front().is_object()) return;
  std::set<std::int64_t> declared;  // on the host network a port of the pod is one of the node
  for (const Json& container : *containers) {
    const Json& ports = api::look(container, "ports");
    if (!ports.is_array()) continue;
    for (const Json& port : ports) {
      const std::string protocol = api::look_text(port, "protocol");
      if (protocol.empty() || protocol == "TCP") {
        declared.insert(api::look_integer(port, "containerPort"));
      }
    }
  }
  Json& ports = containers->front()["ports"];
  if (!ports.is_array()) ports = Json::array();
  for (int port = first_port; port < first_port + kPortsPerJob; ++port) {
    if (declared.contains(port)) continue;
    ports.push_back({{"containerPort", port}, {"hostPort", port}, {"protocol", "TCP"}});
  }
}

}  // namespace paddle::controllers::paddle_job
