// SPDX-License-Identifier: Apache-2.0
//
// Manages the pods of this node and synchronises them with the API server: one pass per pod
// compares the object with the running pod and updates either. Passes run on controllers/loop: one
// at a time per pod, retried after failures, coalesced when a pod changes faster than its status
// can be written.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>  // ManagedPod holds one

#include "base/sync.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/loop/workqueue.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"
#include "kube/informer/store.h"
#include "local/node/assigned_pod.h"
#include "local/node/claims.h"
#include "local/node/mounted_objects.h"
#include "local/node/pod_runner.h"
#include "local/node/sample_volumes.h"
#include "local/node/service_names.h"

namespace paddle::local {

// The index of pods and Services by namespace.
inline constexpr const char* kNamespaceIndex = "namespace";

// Not the key of a pod: requests the removal of unused volumes.
inline const api::ObjectKey kVolumesKey{"", "volumes"};

struct PodManagerOptions {
  kube::Cluster& cluster;
  kube::EventRecorder& events;
  controllers::WorkQueue& queue;
  kube::Store<AssignedPod> pods;
  kube::Store<BoundClaim> claims;
  kube::Store<BoundVolume> volumes;
  kube::Store<ObjectVersion> config_maps;
  kube::Store<ObjectVersion> secrets;
  kube::Store<NamedService> services;
  SampleVolumes& samples;
  const Clock& clock;
  PodRunnerContext runner{};  // common to all pods
};

class PodManager {
 public:
  explicit PodManager(PodManagerOptions options) : options_(std::move(options)) {}
  ~PodManager();  // ends all pods at once; no pass may be in progress

  Result<controllers::ReconcileResult> reconcile(const api::ObjectKey& key, std::stop_token stop)
      EXCLUDES(mutex_);

 private:
  struct ManagedPod {
    std::string uid{};
    PodSpec spec{};
    api::Json written{};        // the status as last written
    ObjectVersions versions{};  // of the objects from which its files were last written
    bool deadline_passed = false;
    std::string names{};  // of Services, as its /etc/hosts has them

    Mutex mutex{};
    std::optional<PodState> state GUARDED_BY(mutex){};

    std::unique_ptr<PodRunner> runner{};  // last: its thread writes the state
  };

  Result<> begin(const AssignedPod& pod, const kube::Call& call);
  Result<> sync(const AssignedPod& pod, ManagedPod& managed, const kube::Call& call);
  // When its deadline has passed, stops the pod; until then, returns how long that takes.
  std::optional<std::chrono::nanoseconds> check_deadline(const AssignedPod& pod,
                                                         ManagedPod& managed);
  // False while the pod still runs.
  bool terminate(const api::ObjectKey& key, ManagedPod& managed);
  void run(const AssignedPod& pod, std::map<std::string, int> restarts);
  Result<> fail(const AssignedPod& pod, PodAction action, const kube::Call& call);
  Result<> write_status(const api::ObjectKey& key, const std::string& uid, const api::Json& status,
                        const kube::Call& call);
  Result<> finish(const api::ObjectKey& key, const std::string& uid, const kube::Call& call);
  Result<std::string> place_claim(const api::ObjectKey& claim, const std::string& uid);
  bool collect_volumes();  // false: to be called again
  ObjectVersions current_versions(const PodSpec& pod) const;
  std::string current_names(const std::string& ns) const;
  std::shared_ptr<ManagedPod> find(const api::ObjectKey& key) EXCLUDES(mutex_);

  const PodManagerOptions options_;

  Mutex mutex_;
  std::map<api::ObjectKey, std::shared_ptr<ManagedPod>> pods_ GUARDED_BY(mutex_);
};

}  // namespace paddle::local
