// SPDX-License-Identifier: Apache-2.0
//
// Runs one pod in its own thread: sets up its volumes and network, runs the init containers one
// after another and then all containers in parallel, restarts them according to the restart policy,
// and reports each change of state. While something is missing (a ConfigMap, a claim), the reason
// is in the container's state and the start is retried. stop() ends everything within the grace
// period; the destructor ends it at once. No process of the pod outlives the object; its files do
// (pod_files.h). The layout of logs is in pod_logs.h; the last two logs of each container are kept.

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

// The dependencies of a pod. All functions are thread-safe.
struct PodRunnerContext {
  std::string program{};    // this program, which starts containers
  std::string directory{};  // parent of the pods' directories
  Network* network = nullptr;
  const Clock* clock = nullptr;
  std::function<ObjectData(const std::string& ns)> objects{};
  VolumeLocator volumes{};
  // The names of Services for pods of a namespace (service_names.h); empty: none.
  std::function<std::string(const std::string& ns)> service_lines{};
  std::map<std::string, std::string> base_env{};   // defaults for the environment
  std::vector<std::string> visible_directories{};  // NodeOptions::visible_directories
  // Canonical paths of this machine that containers must not see, with all beneath them.
  std::vector<std::string> hidden{};
  // Called by the pod's thread; ended() is true at the last call.
  std::function<void(const PodSpec&, const PodState&)> report{};
};

class PodRunner {
 public:
  // `restarts`: how often an earlier node started each container.
  PodRunner(PodSpec pod, PodRunnerContext context, std::map<std::string, int> restarts = {});
  ~PodRunner();

  // Call it when labels or annotations of the pod have changed.
  void update(const PodSpec& pod) EXCLUDES(mutex_);
  // Call it when a ConfigMap or Secret of its volumes has changed.
  void refresh() EXCLUDES(mutex_);
  // Call it when the names of Services have changed.
  void refresh_names() EXCLUDES(mutex_);
  // Requests the end of the pod and returns at once; ended() is true later.
  void stop(std::chrono::seconds grace) EXCLUDES(mutex_);
  bool ended() const { return ended_; }

 private:
  struct ContainerSlot;  // one container and its process

  void run(std::stop_token stop);
  Result<> prepare();
  bool run_init(std::stop_token stop);
  void run_containers(std::stop_token stop);
  void sync(ContainerSlot& slot, bool init);
  Result<> start(ContainerSlot& slot);
  void record_exit(ContainerSlot& slot, int exit_code, bool init);
  bool is_finished(const ContainerSlot& slot) const;  // ended, and will not be restarted
  void wait(std::vector<ContainerSlot>& slots);
  void refresh_volume_files() EXCLUDES(mutex_);
  void refresh_hosts() EXCLUDES(mutex_);
  Result<std::string> write_hosts_file(const PodSpec& pod) const;  // returns its path
  void end_all(std::vector<ContainerSlot>& slots);
  // Waits until a container ends, update(), refresh...() or stop() is called, or `until`.
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
  bool names_changed_ GUARDED_BY(mutex_) = false;

  // Used by the thread only.
  PodState state_{};
  api::Meta published_meta_{};            // the metadata in the downward API's files
  std::optional<BootTime> refresh_at_{};  // when files of objects are rewritten
  std::map<std::string, std::string> volumes_{};
  std::string network_namespace_{};

  std::jthread thread_;
};

}  // namespace paddle::local
