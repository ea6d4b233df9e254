// SPDX-License-Identifier: Apache-2.0
//
// The admission policies of deploy/v1/policies.yaml, as the operator looks for them when it starts:
// without them it works, but tenants can do what the policies forbid. It says so and changes
// nothing.

#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "kube/cluster.h"

namespace paddle::controllers {

// One sentence for each policy that is missing or has no binding: its name, and what is not
// protected without it. An error other than kNotFound is returned: nothing is known then.
Result<std::vector<std::string>> missing_policies(kube::Cluster& cluster,
                                                  const kube::Call& call = {});

// The pod that the operator runs in; empty names: it runs elsewhere.
struct OperatorPod {
  api::ObjectKey key{};
  std::string uid{};
};

// Logs a warning for each missing policy, and records one event about the pod. While the API server
// does not answer it tries again. Returns at `stop`, or when everything is reported.
void report_missing_policies(kube::Cluster& cluster, const OperatorPod& pod, Metrics& metrics,
                             const Clock& clock, std::stop_token stop);

}  // namespace paddle::controllers
