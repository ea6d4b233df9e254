// SPDX-License-Identifier: Apache-2.0
//
// Runs one pod from its start to its end in a thread of its own: places its volumes, gives it a
// network, runs the init containers one after another and then all containers side by side,
// restarts them as the policy says, and reports each change of state. Waits (for a ConfigMap, a
// claim) are stated in the container's state and tried again. stop() ends everything within the
// grace period; the destructor does so at once. No process of the pod outlives the object; its
// files do (pod_files.h). The layout of its logs is pod_logs.h's; of each container the last two
// are kept.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "base/unique_fd.h"
#include "local/node/network.h"
#include "local/node/pod_env.h"
#include "local/node/pod_files.h"
#include "local/node/pod_spec.h"
#include "local/node/pod_status.h"
#include "local/node/pod_volumes.h"

namespace paddle::local {

// What a pod may take from its surroundings. All functions are thread-safe.
struct PodRunnerContext {
  std::string program{};    // this program, to start containers with
  std::string directory{};  // pods live beneath it
  Network* network = nullptr;
  const Clock* clock = nullptr;
  std::function<ObjectData(const std::string& ns)> objects{};
  VolumeLocator volumes{};
  std::map<std::string, std::string> base_env{};   // under what the pod says itself
  std::vector<std::string> visible_directories{};  // NodeOptions::visible_directories
  // Called by the pod's thread; the last call comes when ended() is true.
  std::function<void(const PodSpec&, const PodState&)> report{};
};

class PodRunner {
 public:
  // `restarts`: how often each container was started before, by an earlier node.
  PodRunner(PodSpec pod, PodRunnerContext context, std::map<std::string, int> restarts = {});
  ~PodRunner();

  // New labels or annotations of the same pod.
  void update(const PodSpec& pod) EXCLUDES(mutex_);
  // A ConfigMap or Secret of its volumes changed.
  void refresh() EXCLUDES(mutex_);
  // Asks it to end; returns at once. ended() tells.
  void stop(std::chrono::seconds grace) EXCLUDES(mutex_);
  bool ended() const { return ended_; }

 private:
  struct ContainerSlot;  // one container and what it is doing

  void run(std::stop_token stop);
  Result<> prepare();
  bool run_init(std::stop_token stop);
  void run_containers(std::stop_token stop);
  void sync(ContainerSlot& slot, bool init);
  Result<> start(ContainerSlot& slot);
  void record_exit(ContainerSlot& slot, int exit_code, bool init);
  bool is_finished(const ContainerSlot& slot) const;  // ended, and not to be started again
  void wait(std::vector<ContainerSlot>& slots);
  void refresh_volume_files() EXCLUDES(mutex_);
  void end_all(std::vector<ContainerSlot>& slots);
  // Until a container ends, somebody calls update() or stop(), or the time has come.
  void wait_until(const std::vector<ContainerSlot>& slots, std::optional<BootTime> until);
  void wake();
  void report();
  bool stopping() EXCLUDES(mutex_);
  PodSpec spec() EXCLUDES(mutex_);

  const PodRunnerContext context_;
  const std::string directory_;
  const std::map<std::string, int> restarts_;
  const UniqueFd wake_;  // an eventfd
  std::atomic<bool> ended_{false};

  Mutex mutex_;
  PodSpec pod_ GUARDED_BY(mutex_);
  std::optional<std::chrono::seconds> grace_ GUARDED_BY(mutex_);
  bool objects_changed_ GUARDED_BY(mutex_) = false;

  // Only the thread's.
  PodState state_{};
  api::Meta published_meta_{};            // what the downward API's files say
  std::optional<BootTime> refresh_at_{};  // when files of objects are written again
  std::map<std::string, std::string> volumes_{};
  std::string network_namespace_{};

  std::jthread thread_;
};

}  // namespace paddle::local
