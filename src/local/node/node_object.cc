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

constexpr const char* kPods = "250";  // a sensible number; not enforced

std::string system_name() {
  std::ifstream file("/etc/os-release");
  const std::string key = "PRETTY_NAME=\"";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(key.size(), line.size() - key.size() - 1);
  }
  return "Linux";
}

// The names of Go and Kubernetes.
std::string go_architecture(const std::string& machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;
}

}  // namespace

MachineInfo machine_info() {
  MachineInfo machine{.cpus = sysconf(_SC_NPROCESSORS_ONLN), .system = system_name()};
  struct sysinfo info {};
  if (sysinfo(&info) == 0) {
    machine.memory = static_cast<std::int64_t>(info.totalram) * static_cast<int>(info.mem_unit);
  }
  utsname name{};
  if (uname(&name) == 0) {
    machine.kernel = name.release;
    machine.architecture = go_architecture(name.machine);
    machine.host_name = name.nodename;
  }
  return machine;
}

Json node_object(const std::string& name, const MachineInfo& info,
                 const std::map<std::string, std::string>& labels) {
  Json all = labels;
  all["kubernetes.io/hostname"] = name;
  all["kubernetes.io/os"] = "linux";
  all["kubernetes.io/arch"] = info.architecture;
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", std::move(all)}}}};
}

Json node_status(const MachineInfo& info, WallTime now) {
  const Json room = {{"cpu", std::to_string(info.cpus)},
                     {"memory", std::to_string(info.memory / 1024) + "Ki"},
                     {"pods", kPods}};
  return {{"capacity", room},
          {"allocatable", room},
          {"addresses", Json::array({Json{{"type", "InternalIP"}, {"address", info.address}},
                                     Json{{"type", "Hostname"}, {"address", info.host_name}}})},
          {"conditions", Json::array({Json{{"type", "Ready"},
                                           {"status", "True"},
                                           {"reason", "NodeReady"},
                                           {"message", "pods run as processes of this machine"},
                                           {"lastHeartbeatTime", rfc3339(now)},
                                           {"lastTransitionTime", rfc3339(now)}}})},
          {"nodeInfo",
           {{"kernelVersion", info.kernel},
            {"osImage", info.system},
            {"architecture", info.architecture},
            {"operatingSystem", "linux"},
            {"kubeletVersion", "paddle-local"},
            {"kubeProxyVersion", ""},  // these are required fields of client libraries
            {"machineID", ""},
            {"systemUUID", ""},
            {"bootID", ""},
            {"containerRuntimeVersion", "processes://1"}}}};
}

}  // namespace paddle::local
