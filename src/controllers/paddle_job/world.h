// SPDX-License-Identifier: Apache-2.0
//
// Everything that a decision about one PaddleJob rests on besides the job: the objects that it owns
// and those that it depends on, as last shown by the informers, with our own writes applied.
// Values.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "controllers/paddle_job/decide/pods/completed_indexes.h"
#include "controllers/paddle_job/objects/pod_group.h"
#include "controllers/placement/placement.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

using PodPtr = std::shared_ptr<const api::Pod>;

// The job's ConfigMap (objects/peer_config_map.h), as it is stored.
struct PeerConfigMap {
  api::Meta meta{};
  std::map<std::string, std::string> data{};
  bool operator==(const PeerConfigMap&) const = default;
};

struct ServiceSummary {
  api::Meta meta{};
  bool operator==(const ServiceSummary&) const = default;
};

struct NodeLease {
  std::optional<WallTime> renewed{};  // by the kubelet; unset: the node has no lease
};

// The number of trainers as etcd stores it.
struct StoredReplicas {
  std::string value{};  // empty: there is no such key
  // Of the key's last change, 0 when there is no such key. Unset: this pass has written it.
  std::optional<std::int64_t> revision{};
};

// What is known of an elastic job's keys in etcd.
struct ElasticState {
  enum class Leftovers {
    kNone,
    kPossible,  // an earlier job of the same name may have left keys
    kRemoved,   // they were removed in this pass
  };
  Leftovers leftovers = Leftovers::kNone;
  std::optional<StoredReplicas> replicas{};  // unset: not read in this pass
  bool reachable = true;                     // false: a request of this pass failed
  // namespace/name of another job that has the same id and goes first (id_owner() of
  // spec/elastic.h); empty: this job may use the keys.
  std::string id_owner{};
  // The job has ended while this operator watched it, and its keys have not been removed since.
  bool to_be_removed = false;
};

// The deletion time of a pod that we have deleted, until the watch shows the real one.
inline constexpr WallTime kSoonGone = WallTime::max() - std::chrono::hours{24};

// "Owned" means controlled by the uid of this job.
struct World {
  std::vector<PodPtr> pods{};                      // owned
  std::vector<ServiceSummary> services{};          // owned
  std::optional<PeerConfigMap> peer_config{};      // owned
  std::optional<PodGroupSummary> pod_group{};      // of the job's name
  bool pod_groups_known = true;                    // false: the cluster has no such kind
  placement::DataSummary data{};                   // only with a sampleSetRef
  std::set<int> ports_taken{};                     // by other jobs on the host network
  std::map<std::string, NodeLease> node_leases{};  // only those that a plan has queried
  ElasticState elastic{};
  // What the previous plan for this job found, whether it has been stored or not.
  CompletedIndexes last_completed{};

  // The defaults of the namespace (spec/job_defaults.h) cannot be read.
  std::optional<BlockReason> defaults_error{};
  // Why the last action for this job failed.
  std::optional<BlockReason> trouble{};
  // `pods` was read from the API server just now, not from the informers.
  bool confirmed = false;

  bool busy = false;  // many jobs are queued: creating pods goes before reporting progress
  // For how long a changed status has not been written.
  std::chrono::nanoseconds status_pending_for{0};
};

}  // namespace paddle::controllers::paddle_job
