// SPDX-License-Identifier: Apache-2.0
//
// Elastic jobs: what their pods are told and what etcd says about them (etcd/store.h draws the
// keys). Pure.
//
// A job is elastic when it asks for it (`spec.elastic`, any value), has workers and no parameter
// servers, and the operator knows an etcd. Otherwise it is an ordinary job, and why_not_elastic()
// has the sentence. An elastic job has no ConfigMap environment; its pods restart OnFailure; a
// change of worker.replicas restarts nothing: pods come or go, the np key follows, and Paddle
// finds its own way to the new number.
//
// Two generations of Paddle read two sets of variables; both are given:
//   PADDLE_ELASTIC_*                                the elastic manager (fleet.elastic)
//   PADDLE_MASTER=etcd://..., PADDLE_NNODES=1:MAX   the launcher of Paddle >= 2.3
// Both take one endpoint only and split it at its colon, so they get the first of ours. (Launchers
// up to 3.0 also eat the letters c, d, e and t at the beginning of a host's name: give addresses,
// or a name like paddle-elastic-etcd.)
//
// The launcher is told 1 and not the job's least: with fewer peers than its least it exits with 0
// after PADDLE_ELASTIC_TIMEOUT without having trained (seen with 3.0.0), and the job would count as
// completed. It waits that long after every change unless MAX workers are there, so a job that
// gives limits starts sooner.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/meta.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// Endpoints of etcd as URLs (etcd::parse_endpoints); empty: the operator has none.
using EtcdEndpoints = std::vector<std::string>;

// The value of --etcd-server or, without one, of the Service `paddle-elastic-etcd` beside the
// operator, which the kubelet names in PADDLE_ELASTIC_ETCD_SERVICE_HOST and _PORT.
std::string etcd_server_of(const std::string& flag, const char* service_host,
                           const char* service_port);

bool is_elastic(const api::PaddleJobSpec& spec, const EtcdEndpoints& etcd);
// Empty when the job is elastic or does not ask for it.
std::string why_not_elastic(const api::PaddleJobSpec& spec, const EtcdEndpoints& etcd);

struct Range {
  int least = 1;
  int most = 1;
  bool operator==(const Range&) const = default;
};
// requests:limits of the workers; 1 without requests, as many as a job may have without limits (or
// with limits 0). Replicas are always within.
Range elastic_range(const api::PaddleJobSpec& spec);

// PADDLE_ELASTIC_NP: "MIN:MAX" when requests or limits are given, else the replicas.
std::string elastic_np(const api::PaddleJobSpec& spec);

std::string elastic_job_id(const api::ObjectKey& job);  // <namespace>-<name>

using Env = std::vector<std::pair<std::string, std::string>>;  // in order
// For the training container, appended after the others. Only for jobs that are elastic.
Env elastic_env(const api::PaddleJob& job, const EtcdEndpoints& etcd);

inline constexpr const char* kElasticRestartPolicy = "OnFailure";

// ---- etcd ----

std::string np_key(const api::ObjectKey& job);        // /paddle/<id>/np
std::string state_key(const api::ObjectKey& job);     // /paddle/<id>
std::string state_prefix(const api::ObjectKey& job);  // /paddle/<id>/
std::string round_prefix(const api::ObjectKey& job);  // /<id>/info/: of the launcher

// What np has to say, when it does not say so yet (nullopt: no such key).
std::optional<std::string> np_to_write(const api::PaddleJobSpec& spec,
                                       const std::optional<std::string>& seen);

}  // namespace paddle::controllers::paddle_job
