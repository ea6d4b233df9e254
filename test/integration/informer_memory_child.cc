// SPDX-License-Identifier: Apache-2.0
// The memory of a program that caches pods, alone in a process: caches all pods of the server named
// by the arguments (URL, CA file, token), then prints "objects=N rss_kib=R peak_kib=P".
#include <fstream>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "kube/client/client.h"
#include "kube/informer/informers.h"

namespace paddle::kube {
namespace {

// What a controller keeps of a pod.
struct Pod {
  api::Meta meta{};
  std::string phase{};
  std::string ip{};
  std::string host_ip{};
  std::string node{};
  std::string reason{};
  struct Container {
    std::string name{};
    std::string image{};
    int restarts = 0;
    bool ready = false;
  };
  std::vector<Container> containers{};
};

std::string text(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : "";
}

Result<Pod> decode(const Json& object) {
  TRY(api::Meta meta, api::decode_meta(object));
  Pod pod{.meta = std::move(meta),
          .phase = text(object, "/status/phase"),
          .ip = text(object, "/status/podIP"),
          .host_ip = text(object, "/status/hostIP"),
          .node = text(object, "/spec/nodeName"),
          .reason = text(object, "/status/reason")};
  for (const Json& container : object["spec"]["containers"]) {
    pod.containers.push_back(
        {.name = text(container, "/name"), .image = text(container, "/image")});
  }
  return pod;
}

std::string from_proc(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":"))
      return std::to_string(std::stol(line.substr(field.size() + 1)));
  }
  return "unknown";
}

int run(const Config& config) {
  Client client(config);
  Metrics metrics;
  Informers informers(client, metrics);
  const auto pods = informers.of(resources::kPods, {}, Projection<Pod>{"pod", decode});
  pods.add_index("owner", [](const Pod& pod) {
    std::vector<std::string> uids;
    for (const auto& owner : pod.meta.owners) uids.push_back(owner.uid);
    return uids;
  });
  pods.add_index("job", [](const Pod& pod) {
    const auto label = pod.meta.labels.find("batch.paddlepaddle.org/job");
    return label == pod.meta.labels.end() ? std::vector<std::string>{}
                                          : std::vector<std::string>{label->second};
  });
  informers.start();
  if (!informers.wait_until_synced({})) return 1;
  std::cout << "objects=" << pods.size() << " rss_kib=" << from_proc("VmRSS")
            << " peak_kib=" << from_proc("VmHWM") << std::endl;
  return 0;
}

}  // namespace
}  // namespace paddle::kube

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: informer_memory_child URL CA-FILE TOKEN\n";
    return 2;
  }
  return paddle::kube::run(
      {.server = argv[1], .tls = {.ca_file = argv[2]}, .proxy = "", .token = argv[3]});
}
