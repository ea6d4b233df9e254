// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the scheduler and the kubelets when there is only an API server: gives each new pod
// an address, starts pods whose coordinator is released, ends running pods as the test decides or
// when they have a deadline, and removes pods that are being deleted. Works on any Cluster, the
// real one included, in a thread of its own for as long as it exists.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "kube/cluster.h"

namespace paddle::test {

class FakeKubelet {
 public:
  // The outcome of a running pod: "Running" (it continues), "Succeeded", "Failed" or "Evicted".
  using Ends = std::function<std::string(const std::string& name, int epoch)>;
  FakeKubelet(kube::Cluster& server, std::string ns, Ends ends,
              std::chrono::milliseconds pause = std::chrono::milliseconds{2});
  // Without a thread: pods change in look() only.
  static std::unique_ptr<FakeKubelet> without_thread(kube::Cluster& server, std::string ns,
                                                     Ends ends);

  void look();
  // The first violation that a pod has met; empty: none. Call it after the kubelet is destroyed or
  // idle.
  const std::string& complaint() const { return complaint_; }

 private:
  struct Threadless {};
  FakeKubelet(kube::Cluster& server, std::string ns, Ends ends, Threadless);
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
