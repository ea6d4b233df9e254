// SPDX-License-Identifier: Apache-2.0
//
// The names of Services as lines of /etc/hosts: a machine without a cluster has no DNS and no
// addresses of Services, so a name leads to the pods that its Service selects. Pure.
//
//   10.70.0.5  train-0 train-0.ns train-0.ns.svc train-0.ns.svc.cluster.local
//
// Also the names of single pods (`hostname.subdomain`) when a Service has the subdomain's name.
// A pod counts while it has an address and has not ended; pods that are being deleted count only
// where a Service has no other. Readiness is not asked for: nothing probes pods here.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"
#include "local/node/assigned_pod.h"

namespace paddle::local {

// A Service, reduced to what names its pods.
struct NamedService {
  api::ObjectKey key{};
  std::map<std::string, std::string> selector{};  // empty: selects nothing
  bool operator==(const NamedService&) const = default;
};
Result<NamedService> decode_named_service(const api::Json& object);

// True if a change from `before` to `after` (null: absent) may change the lines of other pods.
bool changes_names(const AssignedPod* before, const AssignedPod* after);

// The lines for the Services and pods of one namespace, sorted by Service and pod.
std::string service_lines(const std::vector<std::shared_ptr<const NamedService>>& services,
                          const std::vector<std::shared_ptr<const AssignedPod>>& pods);

}  // namespace paddle::local
