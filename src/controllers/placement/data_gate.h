// SPDX-License-Identifier: Apache-2.0
//
// The gate on data (`sampleSetRef.gate`): all pods of the job are created with a scheduling gate,
// so that no node and no GPU is held while data loads, and the gates are lifted together. Pure.
//
// They are lifted when every partition that a worker of the job is placed by is warm to
// gate.warmPercent (100 when absent), or as warm as it can be (uncachedReason in the set's status);
// for an elastic job when as many as its least workers are; or when gate.timeoutSeconds have
// passed. None of it counts before the set has had its first sync: the job would find an empty
// directory and succeed. Affinity is settled in the same write that lifts a gate, by the labels of
// that moment (place_worker).

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
  int workers = 0;                  // of the job
  std::optional<int> least{};       // of an elastic job
  std::optional<WallTime> since{};  // when the first of its gated pods was created; none yet: unset
};

struct GateDecision {
  bool lift = false;
  BlockReason reason{};  // why not; or, when it is lifted all the same, what is not there
  std::optional<std::chrono::seconds> retry_after{};  // only the timeout needs it
  bool operator==(const GateDecision&) const = default;
};

GateDecision decide_gate(const api::SampleSetMount& ref, const DataSummary& data,
                         const GateRequest& request, WallTime now);

// By bytes. An empty partition whose runtime has its list of files is warm.
bool is_warm(const api::PartitionStatus& partition, int percent);
// Thousandths of its bytes that are cached, rounded down: 0 to 1000.
int warm_permille(const api::PartitionStatus& partition);

// An RFC 6902 patch that takes our gate from the pod seen (its uid and the names of its gates in
// their order), gives it the affinity of `desired_spec` and notes where it has to go (placement.h).
// Nothing when the gate is not there any more. A gate of somebody else stays.
std::optional<api::Json> lift_patch(const std::string& uid, const std::vector<std::string>& gates,
                                    const api::Json& desired_spec,
                                    const std::string& required_runtime = {});

}  // namespace paddle::controllers::placement
