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
#include "controllers/paddle_job/pod_group.h"
#include "controllers/paddle_job/successes.h"
#include "controllers/placement/placement.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers {

using PodPtr = std::shared_ptr<const api::Pod>;

struct RendezvousMap {
  api::Meta meta{};
  std::map<std::string, std::string> data{};
  bool operator==(const RendezvousMap&) const = default;
};

struct ServiceSeen {
  api::Meta meta{};
  bool operator==(const ServiceSeen&) const = default;
};

// When a node's kubelet last renewed its lease; unset: there is no such lease.
struct NodeLife {
  std::optional<WallTime> renewed{};
};

// The end of a pod that we have deleted, until the watch tells when it will be.
inline constexpr WallTime kSoonGone = WallTime::max() - std::chrono::hours{24};

// Owned means: controlled by this job's uid.
struct World {
  std::vector<PodPtr> pods{};                 // owned
  std::vector<ServiceSeen> services{};        // owned
  std::optional<RendezvousMap> rendezvous{};  // owned
  std::optional<PodGroupSeen> pod_group{};    // of the job's name
  bool pod_groups_known = true;               // false: the cluster has no such kind
  DataSeen data{};                            // only with a sampleSetRef
  std::set<int> ports_taken{};                // by other jobs on the host network
  std::map<std::string, NodeLife> nodes{};    // only those that a plan asked about
  bool etcd_is_clean = true;                  // of what a job of this name may have left there
  Successes noticed{};                        // when the job was last looked at, stored or not

  // What was met when we last tried to act for this job, until it works.
  std::optional<BlockReason> trouble{};
  // Read from the server just now rather than from the informers.
  bool confirmed = false;
};

}  // namespace paddle::controllers
