// SPDX-License-Identifier: Apache-2.0
//
// A small model of a cluster, to execute plans against: a server that stores, rejects and collects
// as the API server does, and kubelets that schedule pods, keep them in their coordinator, run them
// and end them. It checks what the programs of users rely on, and keeps the first violation:
//
//   - a program starts with the environment of its own epoch, with its own address in the lists;
//   - all programs that run at the same time have the same environment;
//   - all programs that run at the same time have the same template;
//   - a pod is stopped only when the job has ended;
//   - servers start before workers, tasks in order if so requested (unless a pod that ran before is
//     created again);
//   - no pod is released after the job has ended;
//   - a pod that has succeeded by the status is not created again in its epoch, and its success is
//     not forgotten; not more disruptions are counted than pods were lost;
//   - the first pods of a gang are created when Volcano has admitted its group.

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
  // `lenient`: an operator that does not see what another one did may release pods after the end,
  // and create a pod again that was created, succeeded and was deleted in the meantime.
  explicit ModelCluster(api::PaddleJob job, bool lenient = false);

  // What an operator may see: each kind as it was some changes ago. An operator sees its own writes
  // at once; with `foreign` the last writes were those of another operator.
  api::PaddleJob job(size_t steps_ago = 0, bool foreign = false) const;
  World world(size_t steps_ago = 0, bool foreign = false) const;
  // The job to plan for, with the answers of the API server and of etcd in `world`.
  api::PaddleJob answer(const std::vector<Query>& queries, api::PaddleJob observed,
                        World& world) const;

  // Writes, with the rejections of the API server. False: rejected, plan again.
  bool store_status(const api::PaddleJob& observed, const api::PaddleJobStatus& status);
  bool execute(const Action& action, const api::PaddleJob& observed);

  // One step of a kubelet, the scheduler or the garbage collector; false: nothing to do.
  bool progress(Random& random);
  // Programs that run end by themselves.
  void end_programs() { programs_end_ = true; }

  // Disruptions.
  void fail_one(Random& random);    // a program ends with an exit code
  void evict_one(Random& random);   // its node evicts it
  void delete_one(Random& random);  // a user deletes a pod
  void move_one(Random& random);    // a node reboots: its pod returns with another address
  void finish_one(Random& random);  // a trainer's program ends well
  void crash_one(Random& random);   // a program fails whose kubelet restarts it in place
  // A pod that has succeeded is deleted; `stored`: only one whose success the status has.
  void remove_finished(Random& random, bool stored);
  void edit(const std::function<void(api::PaddleJobSpec&)>& change);
  void edit_templates(Random& random);  // of all groups
  void request_restart();               // by a new value of the annotation

  WallTime now() const { return now_; }
  void advance(std::chrono::seconds by) { now_ += by; }

  const std::string& broken_promise() const { return broken_; }
  int pods_made() const { return made_; }
  size_t pods() const { return pods_.size(); }
  bool any_program_runs() const;
  std::optional<std::int64_t> gang_size() const;  // minMember of its PodGroup
  int outdated() const;                           // pods that have another template than the job
  int departed() const;  // how many have succeeded, by the status, and are gone

 private:
  struct ModelPod {
    api::Pod pod{};
    std::map<std::string, std::string> env{};  // of its program
    bool elastic = false;
    bool restarts_in_place = false;
    std::string image{};
    bool once_ran = false;
  };
  void changed(bool by_operator = false);
  void create(const Create& a, const api::PaddleJob& observed);
  bool change_group(const Patch& a);
  bool stop(const Patch& a);
  static bool ends_or_restarts(ModelPod& entry, WallTime now);
  bool step(ModelPod& entry, Random& random);
  bool start(ModelPod& entry);
  void promise(bool kept, const std::string& text);
  void lose(const ModelPod& entry);
  // Names of the pods of the spec that have succeeded by this status.
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
  // By epoch and position: groups whose predecessors have all been running.
  std::set<std::pair<std::int64_t, int>> went_before_{};
  bool lenient_ = false;
  WallTime now_{};
  int version_ = 1;
  int uids_ = 0;
  int addresses_ = 0;
  int made_ = 0;
  int lost_ = 0;  // pods that were disrupted
  bool programs_end_ = false;
  std::string broken_{};
};

}  // namespace paddle::controllers::paddle_job
