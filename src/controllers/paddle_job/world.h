// SPDX-License-Identifier: Apache-2.0
//
// What is seen of a job's surroundings: what it owns and what it rests on. Values, as last shown by
// the informers with our own writes laid over them. The plan (plan.h) rests on nothing else.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "controllers/paddle_job/decide/completed_indexes.h"
#include "controllers/paddle_job/objects/pod_group.h"
#include "controllers/placement/placement.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

using PodPtr = std::shared_ptr<const api::Pod>;

struct PeerConfigMap {
  api::Meta meta{};
  std::map<std::string, std::string> data{};
  bool operator==(const PeerConfigMap&) const = default;
};

struct ServiceSummary {
  api::Meta meta{};
  bool operator==(const ServiceSummary&) const = default;
};

// When a node's kubelet last renewed its lease; unset: there is no such lease.
struct NodeLease {
  std::optional<WallTime> renewed{};
};

// The end of a pod that we have deleted, until the watch tells when it will be.
inline constexpr WallTime kSoonGone = WallTime::max() - std::chrono::hours{24};

// Owned means: controlled by this job's uid.
struct World {
  std::vector<PodPtr> pods{};                      // owned
  std::vector<ServiceSummary> services{};          // owned
  std::optional<PeerConfigMap> peer_config{};      // owned
  std::optional<PodGroupSummary> pod_group{};      // of the job's name
  bool pod_groups_known = true;                    // false: the cluster has no such kind
  placement::DataSummary data{};                   // only with a sampleSetRef
  std::set<int> ports_taken{};                     // by other jobs on the host network
  std::map<std::string, NodeLease> node_leases{};  // only those that a plan asked about
  bool etcd_is_clean = true;                       // of what a job of this name may have left there
  CompletedIndexes last_completed{};               // when the job was last looked at, stored or not

  // What was met when we last tried to act for this job, until it works.
  std::optional<BlockReason> trouble{};
  // Read from the server just now rather than from the informers.
  bool confirmed = false;
};

}  // namespace paddle::controllers::paddle_job
