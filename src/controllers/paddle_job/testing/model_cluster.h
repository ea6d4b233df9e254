// SPDX-License-Identifier: Apache-2.0
//
// A cluster small enough to trust, to play plans against: a server that stores, refuses and
// collects as the API server does, and kubelets that schedule pods, hold them in their coordinator,
// run them and end them. It watches the promises that users' programs live by, and says the first
// one that is broken.
//
//   a program starts with the environment of its own epoch, with its own address in the lists
//   all programs that run at the same time were told the same
//   servers start before workers, tasks in order if so wished (unless one that ran is made again)
//   nobody is let go after the job has ended
//   what the status says has succeeded is neither made again nor forgotten in its epoch, and no
//   more disruptions are counted than pods were lost the first pods of a gang are made when Volcano
//   has let its group in

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "controllers/paddle_job/plan.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {

class ModelCluster {
 public:
  // `lenient`: an operator that does not see what another one did may let pods go after the end,
  // and make one again that was made, succeeded and went in the meantime.
  explicit ModelCluster(api::PaddleJob job, bool lenient = false);

  // What an operator may see: each kind as it was some changes ago. An operator sees its own writes
  // at once; one that was lately another (`foreign`) does not.
  api::PaddleJob job(size_t steps_ago = 0, bool foreign = false) const;
  World world(size_t steps_ago = 0, bool foreign = false) const;
  // The job to plan for, with the answers of the API server and of etcd in `world`.
  api::PaddleJob answer(const std::vector<Query>& queries, api::PaddleJob seen, World& world) const;

  // Writes, with the server's own refusals. False: refused, plan again.
  bool store_status(const api::PaddleJob& seen, const api::PaddleJobStatus& status);
  bool execute(const Action& action, const api::PaddleJob& seen);

  // One thing that a kubelet, the scheduler or the garbage collector does; false: nothing to do.
  bool progress(Random& random);
  // Programs that run end by themselves.
  void end_programs() { programs_end_ = true; }

  // Things that happen to jobs.
  void fail_one(Random& random);    // a program ends with an exit code
  void evict_one(Random& random);   // its node gives it up
  void delete_one(Random& random);  // somebody deletes a pod
  void move_one(Random& random);    // a node reboots: its pod comes back with another address
  void finish_one(Random& random);  // a trainer's program ends well
  // A pod that has succeeded is deleted; `stored`: only one that the status says it of.
  void remove_finished(Random& random, bool stored);
  void edit(const std::function<void(api::PaddleJobSpec&)>& change);

  WallTime now() const { return now_; }
  void advance(std::chrono::seconds by) { now_ += by; }

  const std::string& broken_promise() const { return broken_; }
  int pods_made() const { return made_; }
  size_t pods() const { return pods_.size(); }
  bool anybody_runs() const;
  std::optional<std::int64_t> group_asks() const;  // how many pods its PodGroup is of
  int departed() const;  // how many have succeeded, as the status says, and are gone

 private:
  struct ModelPod {
    api::Pod pod{};
    std::map<std::string, std::string> env{};  // the environment its program was started with
    bool elastic = false;
    bool once_ran = false;
  };
  void changed(bool by_operator = false);
  void create(const Create& a, const api::PaddleJob& seen);
  bool change_group(const Patch& a);
  bool step(ModelPod& entry, Random& random);
  bool start(ModelPod& entry);
  void promise(bool kept, const std::string& text);
  void lose(const ModelPod& entry);
  // Names of pods that have succeeded, as this status says; only of those that the spec has.
  std::set<std::string> finished_pods(const api::PaddleJobStatus& status) const;
  static bool ends_by_itself(const ReplicaGroup& group);
  ReplicaGroup group_of(const ModelPod& entry) const;
  ModelPod* pick(Random& random, bool only_running);

  api::PaddleJob job_{};
  std::map<std::string, ModelPod> pods_{};  // by name
  std::map<std::string, ServiceSummary> services_{};
  std::optional<PeerConfigMap> map_{};
  std::optional<PodGroupSummary> group_{};
  StoredReplicas replicas_{.revision = 0};  // in etcd
  std::deque<api::PaddleJob> old_jobs_{};
  std::deque<World> old_worlds_{};
  size_t since_own_write_ = 0;  // changes since the operator's last one
  // By epoch and place: parts whose predecessors all once ran.
  std::set<std::pair<std::int64_t, int>> went_before_{};
  bool lenient_ = false;
  WallTime now_{};
  int version_ = 1;
  int uids_ = 0;
  int addresses_ = 0;
  int made_ = 0;
  int lost_ = 0;  // pods that something happened to
  bool programs_end_ = false;
  std::string broken_{};
};

}  // namespace paddle::controllers::paddle_job
