// SPDX-License-Identifier: Apache-2.0
//
// Everything that a decision about one SampleSet may depend on: what the informers, our own
// acknowledged writes and the runtimes report. Values only. Holds credentials: never printed.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/meta.h"
#include "api/core/pod.h"
#include "api/sample_set.h"
#include "controllers/plan/plan.h"
#include "engine/manifests.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::sample_set {

// The objects that the operator creates for a set; a World has one slot for each.
enum class OwnedKind {
  kToken,        // Secret <set>-runtime: token and certificates of the runtimes
  kCredentials,  // Secret <set>-volume: a copy of the user's Secret, for our pods
  kVolume,
  kDriverCredentials,  // Secret for the CSI driver, in a namespace without tenants
  kClaim,
  kService,
  kPolicy,
  kPreparation,  // Pod
  kRuntimes      // StatefulSet
};
inline constexpr OwnedKind kOwnedKinds[] = {
    OwnedKind::kToken,   OwnedKind::kCredentials, OwnedKind::kVolume, OwnedKind::kDriverCredentials,
    OwnedKind::kClaim,   OwnedKind::kService,     OwnedKind::kPolicy, OwnedKind::kPreparation,
    OwnedKind::kRuntimes};

// A PersistentVolume or a PersistentVolumeClaim.
struct VolumeSummary {
  api::Meta meta{};
  bool bound = false;
  api::ObjectKey claim{};   // of a volume: the claim in its claimRef
  std::string claim_uid{};  // of a volume: set once a claim has been bound to it
  bool operator==(const VolumeSummary&) const = default;
};

// A copy of credentials. `values` absent: not known.
struct CopySummary {
  api::Meta meta{};
  std::optional<engine::Credentials> values{};
  bool operator==(const CopySummary&) const = default;
};

struct StatefulSetSummary {
  api::Meta meta{};
  int replicas = 0;
  int ready = 0;
  bool operator==(const StatefulSetSummary&) const = default;
};

// The Secret with credentials that the spec names.
struct SecretSummary {
  bool exists = false;
  std::string version{};         // "<uid>/<resourceVersion>"
  engine::Credentials values{};  // of the copy when the Secret does not exist
  bool operator==(const SecretSummary&) const = default;
};

struct NodeSummary {
  api::Meta meta{};
  bool ready = true;
  std::optional<WallTime> unready_since{};
  bool operator==(const NodeSummary&) const = default;
};

// What the runtime of one partition answered when it was polled.
struct RuntimeReport {
  int partition = 0;
  std::string error{};  // why it did not answer
  // Time since its last answer, or since the first poll; 0: it has answered.
  std::chrono::seconds unreachable_for{};
  std::optional<runtime::StatusReport> status{};
  std::optional<runtime::JobReport> sync{};    // job jobsName.syncJobName
  std::optional<runtime::JobReport> part{};    // its part in status.sync
  std::optional<runtime::JobReport> warmup{};  // job jobsName.warmupJobName
  bool operator==(const RuntimeReport&) const = default;
};

// An unfinished PaddleJob that refers to the set.
struct UserJob {
  std::string name{};
  std::string uid{};
  bool operator==(const UserJob&) const = default;
};

// CSI drivers of the cluster, and of the nodes on which runtimes of the set are.
struct CsiDriverSummary {
  std::set<std::string> installed{};
  std::map<std::string, std::set<std::string>> on_node{};
  bool operator==(const CsiDriverSummary&) const = default;
};

// An object that has one of the set's names and does not belong to the set.
struct NameConflict {
  OwnedKind kind{};
  api::Meta meta{};
};

// What the API server or a runtime rejected while the plan of this pass was executed: a quota, an
// admission policy, a missing permission. Empty in a World that was just observed.
struct Rejections {
  std::optional<BlockReason> creation{};  // the first object that could not be created
  std::vector<std::string> writes{};      // errors of writes to objects that exist
  std::set<std::pair<int, std::string>> cancellations{};  // partition and id of these jobs
  bool empty() const { return !creation && writes.empty() && cancellations.empty(); }
  bool operator==(const Rejections&) const = default;
};

struct World {
  std::optional<api::Meta> token{};
  std::optional<CopySummary> credentials{};
  std::optional<CopySummary> driver_credentials{};
  std::optional<api::Meta> policy{};
  std::optional<VolumeSummary> volume{};
  std::optional<VolumeSummary> claim{};
  std::optional<api::Meta> service{};
  std::optional<StatefulSetSummary> runtimes{};
  // Why the StatefulSet controller could not create a pod, in the server's words; empty: no pod is
  // missing, or it has not tried yet.
  std::string runtime_creation_error{};
  std::optional<api::Pod> preparation{};
  std::vector<api::Pod> pods{};                  // with the set's label, in its namespace
  std::vector<RuntimeReport> runtime_reports{};  // of the pods that run
  std::optional<SecretSummary> secret{};         // absent: the spec names none
  bool source_secret_missing = false;            // the Secret of spec.source
  std::string secret_versions{};                 // of the Secrets that runtimes mount
  std::optional<CsiDriverSummary> drivers{};     // absent: not needed, or not known yet
  bool supports_policies = false;                // the cluster has NetworkPolicies
  // Label -> value, of each node that has one of the set's labels.
  std::map<std::string, std::map<std::string, std::string>> node_labels{};
  std::map<std::string, NodeSummary> runtime_nodes{};  // of the pods; a deleted node is missing
  bool any_node_ready = true;                          // of all nodes of the cluster
  std::vector<UserJob> users{};
  // A set of the same name in another namespace, created earlier: the label of nodes that both
  // would use is that set's.
  bool has_older_namesake = false;
  // What the caches of older sets of the namespace may have on all nodes.
  std::int64_t cache_mib_of_others = 0;
  // Sets that sync into the same directory of the same volume.
  std::vector<std::string> volume_sharers{};
  bool deletion_forced = false;  // do not wait for `users`
  bool replaced = false;         // the set was deleted, and another one has its name
  Rejections rejections{};
  // Since this process last wrote the status; absent: it has not.
  std::optional<std::chrono::nanoseconds> since_status_write{};
};

// Calls `use` with the slot of this kind, a std::optional of the kind's type.
template <typename AnyWorld, typename Use>
auto with_slot(AnyWorld& world, OwnedKind kind, const Use& use) {
  switch (kind) {
    case OwnedKind::kToken:
      return use(world.token);
    case OwnedKind::kCredentials:
      return use(world.credentials);
    case OwnedKind::kVolume:
      return use(world.volume);
    case OwnedKind::kDriverCredentials:
      return use(world.driver_credentials);
    case OwnedKind::kClaim:
      return use(world.claim);
    case OwnedKind::kService:
      return use(world.service);
    case OwnedKind::kPolicy:
      return use(world.policy);
    case OwnedKind::kPreparation:
      return use(world.preparation);
    case OwnedKind::kRuntimes:
      break;
  }
  return use(world.runtimes);
}

inline api::Meta& meta_of(api::Meta& object) { return object; }
inline const api::Meta& meta_of(const api::Meta& object) { return object; }
template <typename T>
auto& meta_of(T& object) {
  return object.meta;
}

// The metadata of the set's object of this kind, or null when there is none.
inline const api::Meta* find_owned(const World& world, OwnedKind kind) {
  return with_slot(world, kind, [](const auto& slot) -> const api::Meta* {
    return slot ? &meta_of(*slot) : nullptr;
  });
}

inline void show_conflict(const NameConflict& conflict, World& world) {
  with_slot(world, conflict.kind, [&](auto& slot) { meta_of(slot.emplace()) = conflict.meta; });
}

// Volume and claim are bound to each other.
inline bool is_bound(const World& world) {
  return world.volume && world.volume->bound && world.claim && world.claim->bound;
}

}  // namespace paddle::controllers::sample_set
