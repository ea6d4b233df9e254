// SPDX-License-Identifier: Apache-2.0
//
// For tests: a cluster with its nodes and runtimes, small enough to trust. It executes plans, and
// records the first violation of a property that plan.h promises.

#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/sample_set/plan.h"
#include "controllers/sample_set/testing/model_engine.h"

namespace paddle::controllers::sample_set {

class ModelCluster {
 public:
  explicit ModelCluster(api::SampleSet start, int nodes = 6);

  // One pass of the operator, then one of everything else in the cluster. Returns the plan.
  Plan pass();
  // The plan of the last pass.
  Plan settle(int passes = 24);
  // The operator crashes after it has executed `steps` of its plan; the status is the last step.
  void pass_and_crash(std::size_t steps);
  // A pass of an operator that has begun with lists of the API server as they were before the last
  // `passes_ago` passes, and executes its plan `times` times. What it reads itself is up to date:
  // Secrets, and the answers of runtimes. The API server refuses what was decided on an older
  // version of an object.
  void pass_late(std::size_t passes_ago, int times = 1);

  void put_secret(const std::string& version, const engine::Credentials& values);
  void repartition(int partitions);
  void silence(int partition, std::chrono::seconds for_how_long);
  void lose_node(const std::string& name);
  void heal_node(const std::string& name);
  void lose_journal(int partition);          // its pod is created again on the same node
  void clear_cache(int partition);           // as a SampleJob does
  void lose_cache(const std::string& node);  // its client has restarted
  std::string node_of(int partition) const;
  std::set<std::string> jobs_at(int partition) const;  // that its runtime runs
  int puts_of(const std::string& id) const;            // how often runtimes received this job
  const api::Condition& condition(const char* type) const;

  api::SampleSet set;
  World world{};
  WallTime now{std::chrono::seconds(1'800'000'000)};
  bool environment_runs = true;
  bool deleted = false;                      // `set` is the orphan that its volume shows
  std::string sync_error{};                  // with which the source answers
  std::map<int, std::string> part_errors{};  // with which one runtime's part of a sync fails
  std::set<int> slow{};                      // runtimes whose part of a sync does not end
  std::string synced_by{};                   // the latest sync that the first runtime reports
  std::string warm_error{};                  // of every warm-up
  std::string format_error{};                // of the preparation
  std::int64_t part_bytes = 1000;
  std::int64_t generation = 1;              // of the index, where the engine counts
  std::int64_t synced = 1;                  // the generation that the latest sync made
  std::int64_t cache_capacity = 1'000'000;  // of each node
  std::string violation{};                  // the first one

 private:
  struct Runtime {  // of one pod
    std::map<std::string, runtime::JobReport> jobs{};
    std::chrono::seconds silent{};
    bool cleared = false;  // since its latest warm-up
  };
  using WarmUp = std::tuple<std::string, int, std::string>;  // id, partition and node
  struct Seen {
    api::SampleSet set{};
    World world{};
  };
  static constexpr std::size_t kRemembered = 4;

  Plan next_plan() const { return plan_for(set, world); }
  Plan plan_for(const api::SampleSet& seen, const World& seen_world) const;
  void end_pass();
  Seen seen_before(std::size_t passes_ago);
  bool refuses(const Action& action, const Seen& seen) const;
  api::Meta create_meta(const api::Opaque& object);
  void apply(const Action& action);
  void apply_status(const api::SampleSetStatus& status);
  void create(const CreateObject& action);
  void patch(const PatchObject& action);
  void put(const PutJob& action);
  void put_part(const PutJob& action, runtime::JobReport& report);
  void record_ended_warm_ups();
  void violate(const std::string& what);
  api::Meta* find_object(OwnedKind kind);
  void check_ours(const std::string& uid, const char* what);
  void run_environment();
  void bind_volume();
  void place_pods();
  void run_jobs();
  void update_world();
  RuntimeReport report_of_runtime(const api::SampleSet& seen, int partition, const api::Pod& pod);
  std::string free_node() const;
  api::Pod* pod_of(int partition);
  const api::Pod* pod_of(int partition) const;

  const Config config_ = model_config();
  std::map<std::string, NodeSummary> nodes_{};
  std::map<std::string, Runtime> runtimes_{};     // by the pod's uid
  std::map<std::string, std::int64_t> cached_{};  // by node
  std::map<std::string, int> client_restarts_{};  // by node
  std::set<std::string> indexed_{};               // nodes that have the index
  std::set<std::string> bound_{};                 // uids of claims that have had a volume
  std::set<std::string> created_{};               // uids of what the operator created
  std::set<std::string> stored_{};                // every id that the status has had
  std::set<WarmUp> ended_{};                      // according to the status
  std::set<WarmUp> cleared_{};                    // of these: cleared, and the operator knows
  std::map<std::string, int> puts_{};             // by id
  std::map<std::string, std::string> cuts_{};     // by division: how runtime 0 divided it
  int uids_ = 0;
  std::deque<Seen> seen_{};  // after each pass, the last one first
  bool late_ = false;        // a pass of pass_late()
};

std::vector<Action> actions_of(const Plan& plan);  // of all waves
bool is_empty(const Plan& plan);                   // no actions and no status
std::string ready_reason(const Plan& plan);        // of the condition Ready that it writes

template <typename T>
std::vector<T> only(const Plan& plan) {
  std::vector<T> found;
  for (const Action& action : actions_of(plan)) {
    if (auto* wanted = std::get_if<T>(&action)) found.push_back(*wanted);
  }
  return found;
}

std::size_t count_created(const Plan& plan, OwnedKind kind);

}  // namespace paddle::controllers::sample_set
