// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for scheduler and kubelets where only an API server is: gives each new pod an address,
// starts those whose coordinator is released, ends those that run as it is told to, and removes
// those that are being deleted. Works on any Cluster, the real one included, with a thread of its
// own for as long as it lives.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "kube/cluster.h"

namespace paddle::test {

class FakeKubelet {
 public:
  // What becomes of a pod that runs: "Running" (it goes on), "Succeeded", "Failed" or "Evicted".
  using Ends = std::function<std::string(const std::string& name, int epoch)>;
  FakeKubelet(kube::Cluster& server, std::string ns, Ends ends,
              std::chrono::milliseconds pause = std::chrono::milliseconds{2});

  // The first promise broken to a pod; empty: none. Once destroyed or idle.
  const std::string& complaint() const { return complaint_; }

 private:
  void look();
  void tend(const kube::Json& pod);
  void set(const api::Meta& pod, const kube::Json& status);

  kube::Cluster& server_;
  const std::string ns_;
  const Ends ends_;
  std::map<std::string, std::string> addresses_{};  // by uid
  std::string complaint_{};
  std::jthread thread_;
};

}  // namespace paddle::test
