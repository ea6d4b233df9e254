// SPDX-License-Identifier: Apache-2.0
//
// What may change in the spec of a Pod that exists: what a real API server permits, so that a patch
// that would have no effect on running processes is refused here as well. Pure.
//
//   image of containers             to another image; of init containers, too
//   activeDeadlineSeconds           set, or made shorter
//   tolerations                     added, or given other tolerationSeconds
//   terminationGracePeriodSeconds   from a negative number to 1
//   schedulingGates                 removed; with a gate, nodeSelector and affinity may change, too
//   nodeName                        set once: the scheduler of one machine binds by a patch

#pragma once

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

// `before` and `after` are Pods with their defaults. kInvalid names the field, or all that may be
// changed.
Result<> check_pod_update(const api::Json& before, const api::Json& after);

}  // namespace paddle::local
