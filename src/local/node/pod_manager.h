// SPDX-License-Identifier: Apache-2.0
//
// The pods that run on this node, and their keeping in step with the API server: one pass per pod
// looks at what the server shows and at what the pod does, and does what is missing, in either
// direction. Passes are a controller's (controllers/loop): one at a time per pod, repeated after
// failures, coalesced when a pod changes faster than its status can be written.

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

namespace paddle::local {

// A key that is no pod's: asks for a look at volumes that are gone.
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
  SampleVolumes& samples;
  const Clock& clock;
  PodRunnerContext runner{};  // what is the same for all pods
};

class PodManager {
 public:
  explicit PodManager(PodManagerOptions options) : options_(std::move(options)) {}
  ~PodManager();  // ends all of them at once; no pass may be in progress

  Result<controllers::ReconcileResult> reconcile(const api::ObjectKey& key, std::stop_token stop)
      EXCLUDES(mutex_);

 private:
  struct ManagedPod {
    std::string uid{};
    PodSpec spec{};
    api::Json written{};        // the status as last written
    ObjectVersions versions{};  // of the objects that its files were last made from

    Mutex mutex{};
    std::optional<PodState> state GUARDED_BY(mutex){};

    std::unique_ptr<PodRunner> runner{};  // last: its thread writes the state
  };

  Result<> begin(const AssignedPod& pod, const kube::Call& call);
  Result<> sync(const AssignedPod& pod, ManagedPod& managed, const kube::Call& call);
  // False while something of it still runs.
  bool terminate(const api::ObjectKey& key, ManagedPod& managed);
  void run(const AssignedPod& pod, std::map<std::string, int> restarts);
  Result<> fail(const AssignedPod& pod, PodAction action, const kube::Call& call);
  Result<> write_status(const api::ObjectKey& key, const std::string& uid, const api::Json& status,
                        const kube::Call& call);
  Result<> finish(const api::ObjectKey& key, const std::string& uid, const kube::Call& call);
  Result<std::string> place_claim(const api::ObjectKey& claim, const std::string& uid);
  void collect_volumes();
  ObjectVersions current_versions(const PodSpec& pod) const;
  std::shared_ptr<ManagedPod> find(const api::ObjectKey& key) EXCLUDES(mutex_);

  const PodManagerOptions options_;

  Mutex mutex_;
  std::map<api::ObjectKey, std::shared_ptr<ManagedPod>> pods_ GUARDED_BY(mutex_);
};

}  // namespace paddle::local
