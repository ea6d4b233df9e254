// SPDX-License-Identifier: Apache-2.0
//
// Elastic jobs: the environment of their pods, and their keys in etcd (etcd/store.h describes all
// keys). Pure.
//
// A job is elastic when it sets `spec.elastic` (to any value), has workers and no parameter
// servers, and the operator knows an etcd. Otherwise it is an ordinary job, and why_not_elastic()
// returns the reason. An elastic job has no ConfigMap; its pods restart OnFailure; a change of
// worker.replicas does not restart the job: pods are created or deleted, the np key follows, and
// Paddle adapts to the new number.
//
// Two generations of Paddle read two sets of variables; pods get both:
//   PADDLE_ELASTIC_*                                the elastic manager (fleet.elastic)
//   PADDLE_MASTER=etcd://..., PADDLE_NNODES=1:MAX   the launcher of Paddle >= 2.3
// Both accept one endpoint only and split it at its colon, so they get the first one. (Launchers up
// to 3.0 also strip the letters c, d, e and t from the beginning of a host name: use addresses, or
// a name like paddle-elastic-etcd.)
//
// The launcher gets 1 as its minimum, not the job's: with fewer peers than its minimum it exits
// with 0 after PADDLE_ELASTIC_TIMEOUT without training (observed with 3.0.0), and the job would
// count as completed. It waits for that time after every change unless MAX workers are there, so a
// job with limits starts sooner.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/meta.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// Endpoints of etcd as URLs (etcd::parse_endpoints); empty: the operator has none.
using EtcdEndpoints = std::vector<std::string>;

// The value of --etcd-server or, without one, the address of the Service `paddle-elastic-etcd` in
// the operator's namespace, which the kubelet passes in PADDLE_ELASTIC_ETCD_SERVICE_HOST and _PORT.
std::string etcd_server_of(const std::string& flag, const char* service_host,
                           const char* service_port);

bool is_elastic(const api::PaddleJobSpec& spec, const EtcdEndpoints& etcd);
// Empty when the job is elastic or does not set `elastic`.
std::string why_not_elastic(const api::PaddleJobSpec& spec, const EtcdEndpoints& etcd);

struct ReplicaRange {
  int min = 1;
  int max = 1;
  bool operator==(const ReplicaRange&) const = default;
};
// requests:limits of the workers; 1 without requests, the maximum of a role without limits (or with
// limits 0). Always includes the replicas.
ReplicaRange elastic_range(const api::PaddleJobSpec& spec);

// PADDLE_ELASTIC_NP: "MIN:MAX" with requests or limits, else the replicas.
std::string elastic_np(const api::PaddleJobSpec& spec);

std::string elastic_job_id(const api::ObjectKey& job);  // <namespace>-<name>

// Two jobs can have the same id (a/b-c and a-b/c), and so the same keys. The one that was created
// first owns them until it has ended. Returns namespace/name of the owner; empty: it is `job`.
// `with_same_id`: elastic jobs that have not ended, with or without `job`.
std::string id_owner(const api::PaddleJob& job,
                     const std::vector<std::shared_ptr<const api::PaddleJob>>& with_same_id);

using Env = std::vector<std::pair<std::string, std::string>>;  // in order
// For the training container, appended after the other variables. Only for elastic jobs.
Env elastic_env(const api::PaddleJob& job, const EtcdEndpoints& etcd);

inline constexpr const char* kElasticRestartPolicy = "OnFailure";

// ---- etcd ----

std::string np_key(const api::ObjectKey& job);        // /paddle/<id>/np
std::string state_key(const api::ObjectKey& job);     // /paddle/<id>
std::string state_prefix(const api::ObjectKey& job);  // /paddle/<id>/
std::string round_prefix(const api::ObjectKey& job);  // /<id>/info/, written by the launcher

// The value for np, when it differs from what is stored (nullopt: there is no such key).
std::optional<std::string> np_to_write(const api::PaddleJobSpec& spec,
                                       const std::optional<std::string>& stored);

}  // namespace paddle::controllers::paddle_job
