// SPDX-License-Identifier: Apache-2.0
//
// For tests: a cluster, its nodes and its runtimes small enough to trust. They do as told, and keep
// count of the promises of plan.h.

#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_set {

// Asks for everything an engine may ask for, and its first runtime leads.
class SharingBuilder final : public engine::ManifestBuilder {
 public:
  static constexpr const char* kDriver = "csi.example.org";
  std::string name() const override { return "juicefs"; }
  bool shares_volume() const override { return true; }
  Result<engine::Manifests> manifests(const api::SampleSet& set,
                                      const engine::Credentials& credentials,
                                      const engine::RuntimeOptions& options) const override;
};

Config model_config();
// With samplefs, or with the builder above when it has a secret with a metaurl.
api::SampleSet model_set(int partitions = 1, bool leading = false);

class Model {
 public:
  explicit Model(api::SampleSet start, int nodes = 6);

  // One pass of the operator; what the others in a cluster do follows at once.
  Plan pass();
  Plan settle(int passes = 24);
  // The operator dies after `actions` of its plan.
  void pass_and_die(size_t actions);

  void put_secret(const std::string& version, const engine::Credentials& values);
  void repartition(int partitions);
  void silence(int partition, std::chrono::seconds for_how_long);
  void lose_node(const std::string& name);
  void heal_node(const std::string& name);
  void lose_journal(int partition);          // its pod is made again on the same node
  void clear_cache(int partition);           // as a SampleJob does
  void lose_cache(const std::string& node);  // its client has started anew
  std::string node_of(int partition) const;
  std::set<std::string> jobs_at(int partition) const;  // that its runtime works on
  int puts_of(const std::string& id) const;            // how often runtimes were given this job
  const api::Condition& condition(const char* type) const;

  api::SampleSet set;
  World world{};
  WallTime now{std::chrono::seconds(1'800'000'000)};
  bool others_work = true;
  bool gone = false;         // deleted: `set` is the orphan that its volume remembers
  std::string sync_error{};  // the source's answer, when it is one
  std::map<int, std::string> part_errors{};  // the same for one runtime's part of a sync
  std::set<int> slow{};                      // runtimes whose part of a sync does not end
  std::string synced_by{};                   // what the first runtime says of its latest sync
  std::string warm_error{};                  // of every warm-up
  std::string format_error{};                // of the preparation
  std::int64_t part_bytes = 1000;
  std::int64_t generation = 1;    // of the list, where the engine counts
  std::int64_t synced = 1;        // the one that the latest sync made
  std::int64_t room = 1'000'000;  // of each node's cache
  std::string broken{};           // the first promise that was not kept

 private:
  struct Life {  // of one runtime's pod
    std::map<std::string, runtime::JobReport> jobs{};
    std::chrono::seconds silent{};
    bool cleared = false;  // since its latest warm-up
  };
  api::Meta meta_of(const api::Opaque& object);
  void play(const Action& action);
  void create(const CreateObject& a);
  void put(const PutJob& a);
  void put_part(const PutJob& a, runtime::JobReport& report);
  void remove(OwnedKind kind);
  void note_ended();
  api::Meta* child(OwnedKind kind);
  void check_ours(const std::string& uid, const char* what);
  void follow();
  void bind();
  void place_pods();
  void work();
  void look();
  std::string free_node() const;
  api::Pod* pod_of(int partition);
  const api::Pod* pod_of(int partition) const;

  const Config config_ = model_config();
  std::map<std::string, NodeSummary> nodes_{};
  std::map<std::string, Life> lives_{};           // by the pod's uid
  std::map<std::string, std::int64_t> cached_{};  // by node
  std::map<std::string, int> client_{};           // by node: how often it has started
  std::set<std::string> indexed_{};               // nodes that have the list of samples
  std::set<std::string> bound_{};                 // uids of claims that have had a volume
  std::set<std::string> made_{};                  // uids of what the operator made
  std::set<std::string> stored_{};                // every id that the status has held
  // Warm-ups that the status says have ended: id, partition and node.
  std::set<std::tuple<std::string, int, std::string>> ended_{};
  // Of these: where somebody cleared the cache afterwards, and the operator has seen it.
  std::set<std::tuple<std::string, int, std::string>> cleared_{};
  std::map<std::string, int> puts_{};
  std::map<std::string, std::string> cuts_{};  // by division: how the first runtime divided it
  int born_ = 0;
};

template <typename T>
std::vector<T> only(const Plan& plan) {
  std::vector<T> found;
  for (const auto& action : plan.actions) {
    if (auto* wanted = std::get_if<T>(&action)) found.push_back(*wanted);
  }
  return found;
}

std::string reason_of(const Plan& plan);  // of the condition Ready that it writes

}  // namespace paddle::controllers::sample_set
