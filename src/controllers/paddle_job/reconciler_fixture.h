// SPDX-License-Identifier: Apache-2.0
//
// The reconciler over FakeCluster, with a stand-in for kubelets and scheduler, for tests.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/sync.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reconciler.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::controllers {

using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

template <typename Condition>
void until(const Condition& condition) {
  while (!condition()) system_clock().sleep(std::chrono::milliseconds{2}, {});
}

// Gives each new pod an address, starts those that are released, and ends those that run as it is
// told to.
class Kubelet {
 public:
  // What becomes of a pod that runs: "Running" (it goes on), "Succeeded", "Failed" or "Evicted".
  using Ends = std::function<std::string(const std::string& name, int epoch)>;
  Kubelet(kube::FakeCluster& server, Ends ends);

 private:
  void look();
  void tend(const Json& pod);
  void set(const std::string& name, const Json& status);

  kube::FakeCluster& server_;
  const Ends ends_;
  std::map<std::string, std::string> addresses_{};  // by uid
  std::jthread thread_;
};

struct PaddleJobReconcilerTest : ::testing::Test {
  kube::FakeCluster server{};
  Metrics metrics{};
  PaddleJobOptions options{};
  const ObjectKey key{"train", "resnet"};

  // `spec`: what is said besides two workers with a container.
  void create_job(const Json& spec = Json::object(), const std::string& name = "resnet");
  std::unique_ptr<Manager> make(kube::Cluster& cluster);

  Json job();
  std::string phase();
  std::string reason(const char* type = "Ready");
  std::set<std::string> names(const kube::Resource& resource);
  size_t count(kube::Verb verb, const kube::Resource& resource, const std::string& sub = {});
  bool told(const std::string& text);  // in an event

  // Runs the controller until `end` holds.
  void run_until(kube::Cluster& cluster, const Kubelet::Ends& ends,
                 const std::function<bool()>& end);
  void run_to(kube::Cluster& cluster, const std::string& phase,
              const std::string& last = "Succeeded");
};

}  // namespace paddle::controllers
