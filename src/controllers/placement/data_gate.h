// SPDX-License-Identifier: Apache-2.0
//
// The data gate (`sampleSetRef.gate`): all pods of the job are created with a scheduling gate, so
// that they occupy no node and no GPU while data is loaded, and all gates are removed together.
// Pure.
//
// They are removed when every partition that a worker is placed by is warm to gate.warmPercent (100
// by default), or as warm as it can be (uncachedReason in the set's status); for an elastic job,
// when the partitions of its minimum of workers are; or when gate.timeoutSeconds have passed. They
// stay before the first sync of the set in any case: the job would find an empty directory and
// succeed. The patch that removes a gate also sets the affinity, by the labels of that moment
// (place_worker).

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::placement {

inline constexpr const char* kDataGate = "batch.paddlepaddle.org/data-ready";

void add_gate(api::Json& pod_spec);

struct GateRequest {
  int workers = 0;                   // of the job
  std::optional<int> min_workers{};  // of an elastic job
  std::optional<WallTime> since{};   // when its first pod with a gate was created; unset: none yet
};

struct GateDecision {
  bool open = false;
  BlockReason reason{};  // why it is closed; or, when it opens anyway, what is missing
  std::optional<std::chrono::seconds> retry_after{};  // until the timeout
  bool operator==(const GateDecision&) const = default;
};

GateDecision decide_gate(const api::SampleSetMount& ref, const DataSummary& data,
                         const GateRequest& request, WallTime now);

// By bytes. An empty partition is warm when its runtime has the list of files.
bool is_warm(const api::PartitionStatus& partition, int percent);
// The cached share of its bytes in thousandths, rounded down: 0 to 1000.
int warm_permille(const api::PartitionStatus& partition);

// A JSON patch (RFC 6902) that removes our gate from a pod (with this uid and the names of its
// gates in their order), sets the affinity of `desired_spec` and annotates the required runtime
// (placement.h). Nothing when the gate is already gone. Other gates stay.
std::optional<api::Json> remove_gate_patch(const std::string& uid,
                                           const std::vector<std::string>& gates,
                                           const api::Json& desired_spec,
                                           const std::string& required_runtime = {});

}  // namespace paddle::controllers::placement
