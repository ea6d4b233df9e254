// SPDX-License-Identifier: Apache-2.0
#include "local/node/node_object.h"

#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace paddle::local {
namespace {

using api::Json;

constexpr const char* kPods = "250";  // what one machine sensibly runs; nothing enforces it

std::string system_name() {
  std::ifstream file("/etc/os-release");
  const std::string key = "PRETTY_NAME=\"";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(key.size(), line.size() - key.size() - 1);
  }
  return "Linux";
}

// The names that Go and Kubernetes use.
std::string go_architecture(const std::string& machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts{.cpus = sysconf(_SC_NPROCESSORS_ONLN), .system = system_name()};
  struct sysinfo info {};
  if (sysinfo(&info) == 0) {
    facts.memory = static_cast<std::int64_t>(info.totalram) * static_cast<int>(info.mem_unit);
  }
  utsname name{};
  if (uname(&name) == 0) {
    facts.kernel = name.release;
    facts.architecture = go_architecture(name.machine);
    facts.host_name = name.nodename;
  }
  return facts;
}

Json node_object(const std::string& name, const MachineFacts& facts,
                 const std::map<std::string, std::string>& labels) {
  Json all = labels;
  all["kubernetes.io/hostname"] = name;
  all["kubernetes.io/os"] = "linux";
  all["kubernetes.io/arch"] = facts.architecture;
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", std::move(all)}}}};
}

Json node_status(const MachineFacts& facts, WallTime now) {
  const Json room = {{"cpu", std::to_string(facts.cpus)},
                     {"memory", std::to_string(facts.memory / 1024) + "Ki"},
                     {"pods", kPods}};
  return {{"capacity", room},
          {"allocatable", room},
          {"addresses", Json::array({Json{{"type", "InternalIP"}, {"address", facts.address}},
                                     Json{{"type", "Hostname"}, {"address", facts.host_name}}})},
          {"conditions", Json::array({Json{{"type", "Ready"},
                                           {"status", "True"},
                                           {"reason", "NodeReady"},
                                           {"message", "pods run as processes of this machine"},
                                           {"lastHeartbeatTime", rfc3339(now)},
                                           {"lastTransitionTime", rfc3339(now)}}})},
          {"nodeInfo",
           {{"kernelVersion", facts.kernel},
            {"osImage", facts.system},
            {"architecture", facts.architecture},
            {"operatingSystem", "linux"},
            {"kubeletVersion", "paddle-local"},
            {"kubeProxyVersion", ""},  // these are not optional: client libraries insist
            {"machineID", ""},
            {"systemUUID", ""},
            {"bootID", ""},
            {"containerRuntimeVersion", "processes://1"}}}};
}

}  // namespace paddle::local
