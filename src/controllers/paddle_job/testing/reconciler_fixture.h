// SPDX-License-Identifier: Apache-2.0
//
// The controller on FakeCluster, with a stand-in for kubelets and scheduler.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "base/sync.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reconciler.h"
#include "kube/events/recorder.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"
#include "test/support/fake_kubelet.h"
#include "test/support/until.h"

namespace paddle::controllers::paddle_job {

using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;
using test::until;

using Kubelet = test::FakeKubelet;

struct PaddleJobReconcilerTest : ::testing::Test {
  kube::FakeCluster server{};
  Metrics metrics{};
  Options options{};
  const ObjectKey key{"train", "resnet"};

  // `spec`: merged into that of a job with two workers.
  void create_job(const Json& spec = Json::object(), const std::string& name = "resnet");
  std::unique_ptr<Manager> make(kube::Cluster& cluster);

  Json job();
  std::string phase();
  std::string reason(const char* type = "Ready");
  std::set<std::string> names(const kube::Resource& resource);
  size_t count(kube::Verb verb, const kube::Resource& resource, const std::string& sub = {});
  bool has_event(const std::string& text);  // with this text in any field

  // Runs the controller until `end` is true.
  void run_until(kube::Cluster& cluster, const Kubelet::Ends& ends,
                 const std::function<bool()>& end);
  void run_to(kube::Cluster& cluster, const std::string& phase,
              const std::string& last = "Succeeded");
};

// One pass at a time, with a manual clock.
struct OnePassTest : PaddleJobReconcilerTest {
  kube::FaultPolicy fault{};  // set before begin(); empty: nothing fails
  kube::FailingCluster failing{server, [this](const kube::Request& request, size_t nth) {
                                 return fault ? fault(request, nth) : std::nullopt;
                               }};
  ManualClock clock{};
  kube::Informers informers{failing, metrics};
  kube::EventRecorder events{failing, "c", clock, metrics};
  WorkQueue queue{"c", {}, clock, system_random(), metrics};
  Reconcile reconcile{};

  void begin();
  void drain();            // the queue
  ReconcileResult pass();  // over `key`; it must not fail
  ~OnePassTest() override;
};

}  // namespace paddle::controllers::paddle_job
