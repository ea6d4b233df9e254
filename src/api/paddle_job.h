// SPDX-License-Identifier: Apache-2.0
//
// PaddleJob (batch.paddlepaddle.org/v1) as a value. paddle_job_fields.h is the only list of the
// JSON names, limits and meanings of the fields. An absent number whose zero has a meaning is
// optional; other absent fields have their zero value. Plain values: copy them, compare them, share
// them between threads.

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "api/shared.h"
#include "base/result.h"

namespace paddle::api {

// Values of spec.intranet and spec.mode: for the schema, and for a controller whose API server has
// an older schema.
inline constexpr const char* kIntranets[] = {"", "PodIP", "Service", "Host"};
inline constexpr const char* kModes[] = {"", "PS", "Collective", "Single", "Custom"};

inline constexpr const char* kFailureActions[] = {"Fail", "Restart", "Ignore"};
inline constexpr const char* kExitCodeOperators[] = {"In", "NotIn"};
inline constexpr const char* kSuccessPolicies[] = {"", "All", "Chief", "Any"};

template <size_t N>
bool is_choice(const char* const (&choices)[N], const std::string& value) {
  return std::find(std::begin(choices), std::end(choices), value) != std::end(choices);
}

// The value of spec.managedBy that means this operator, as its absence does.
inline constexpr const char* kManagedByUs = "batch.paddlepaddle.org/paddle-operator";

struct Role {
  std::int32_t replicas = 0;
  std::optional<std::int32_t> requests{};  // minimum replicas of an elastic job
  std::optional<std::int32_t> limits{};    // maximum replicas of an elastic job; 0: no limit
  Opaque pod_template{};                   // a PodTemplateSpec, as written
  std::string restart_policy{};            // for a template without one
  Opaque rest{};
  bool operator==(const Role&) const = default;
};

// A role with a name that the user chooses; see PaddleJobSpec::tasks.
struct Task : Role {
  std::string name{};
  bool operator==(const Task&) const = default;
};

struct SchedulingPolicy {
  std::optional<std::int32_t> min_available{};
  std::string queue{};
  std::string priority_class{};
  Opaque min_resources{};  // resource name -> quantity
  Opaque rest{};
  bool operator==(const SchedulingPolicy&) const = default;
};

// Keeps the pods gated until the data is cached.
struct DataGate {
  std::optional<std::int32_t> warm_percent{};
  std::optional<std::int64_t> timeout_seconds{};
  Opaque rest{};
  bool operator==(const DataGate&) const = default;
};

struct SampleSetMount {
  std::string name{};
  std::string ns{};
  std::string mount_path{};
  std::string affinity{};  // "required" (also when empty) or "preferred"
  bool read_only = false;
  std::vector<std::string> containers{};  // empty: the first one
  std::optional<DataGate> gate{};
  Opaque rest{};
  bool operator==(const SampleSetMount&) const = default;
};

struct ExitCodes {
  std::string container_name{};  // empty: any container
  std::string op{};              // In or NotIn
  std::vector<std::int32_t> values{};
  Opaque rest{};
  bool operator==(const ExitCodes&) const = default;
};

// Either on_exit_codes or on_reasons.
struct FailureRule {
  std::string action{};  // Fail, Restart or Ignore
  std::optional<ExitCodes> on_exit_codes{};
  std::vector<std::string> on_reasons{};
  Opaque rest{};
  bool operator==(const FailureRule&) const = default;
};

// What a failed pod means for the job; the first rule that matches decides.
struct FailurePolicy {
  std::vector<FailureRule> rules{};
  Opaque rest{};
  bool operator==(const FailurePolicy&) const = default;
};

struct PaddleJobSpec {
  std::optional<Role> ps{};
  std::optional<Role> worker{};
  std::optional<Role> heter{};
  // The other way to write a job, instead of ps, worker and heter. The mode, and the part of a
  // task's name before the first dash, determine what the task does.
  std::string mode{};  // empty: derived from the roles or tasks
  std::vector<Task> tasks{};
  std::optional<std::int32_t> start_in_order{};  // 1: a task starts when all previous tasks run
  std::string clean_pod_policy{};                // as written; see effective_clean_policy()
  std::string clean_policy{};  // the same field under the name that a published guide uses
  std::string intranet{};      // "PodIP" (also when empty), "Service" or "Host"
  std::optional<std::int32_t> with_gloo{};
  std::optional<std::int32_t> elastic{};  // any value, even 0, turns it on
  std::optional<SchedulingPolicy> scheduling_policy{};
  std::optional<SampleSetMount> sample_set{};
  std::optional<std::int32_t> backoff_limit{};
  std::optional<std::int32_t> disruption_limit{};
  std::optional<FailurePolicy> failure_policy{};
  std::string success_policy{};  // All (also when empty), Chief or Any
  std::optional<std::int64_t> active_deadline_seconds{};
  std::optional<std::int32_t> ttl_seconds_after_finished{};
  bool suspend = false;
  std::string managed_by{};  // who runs the job; empty: this operator (kManagedByUs)
  Opaque rest{};

  bool managed_by_us() const { return managed_by.empty() || managed_by == kManagedByUs; }
  bool operator==(const PaddleJobSpec&) const = default;
};

struct RoleStatus {
  std::int32_t pending = 0;
  std::int32_t starting = 0;
  std::int32_t running = 0;
  std::int32_t failed = 0;
  std::int32_t succeeded = 0;
  std::int32_t unknown = 0;
  std::int32_t restarts = 0;        // of containers in place, by their kubelet
  std::string completed_indexes{};  // pods that succeeded in this epoch: "0-3,7"
  std::vector<ObjectReference> refs{};
  Opaque rest{};
  bool operator==(const RoleStatus&) const = default;
};

// The state of the data set when the job was started.
struct DataVersion {
  std::string name{};
  std::int64_t generation = 0;
  std::string digest{};
  Opaque rest{};
  bool operator==(const DataVersion&) const = default;
};

struct PaddleJobStatus {
  std::string phase{};
  std::string mode{};
  std::string ready{};  // for the column: "2/2" pods run or have succeeded
  std::optional<RoleStatus> ps{};
  std::optional<RoleStatus> worker{};
  std::optional<RoleStatus> heter{};
  std::map<std::string, RoleStatus> tasks{};  // by name
  std::string elastic{};
  std::optional<WallTime> start_time{};
  std::optional<WallTime> completion_time{};
  std::optional<WallTime> running_time{};  // when all pods of the current epoch first ran
  std::optional<WallTime> active_time{};   // when activeDeadlineSeconds began to count
  std::int64_t observed_generation = 0;
  Conditions conditions{};
  std::int64_t epoch = 0;                  // incremented before each restart of the whole job
  std::int32_t failures = 0;               // of the user's program, against backoffLimit
  std::int32_t disruptions = 0;            // evictions and lost nodes, against disruptionLimit
  std::int32_t ignored_failures = 0;       // restarts that failurePolicy does not count
  std::int64_t restarts = 0;               // epoch, and the restarts of containers since then
  std::optional<WallTime> restart_time{};  // when epoch was last incremented
  std::string restart_request{};           // the last value of the restart annotation
  std::int32_t port = 0;                   // first of the job's ports
  std::int32_t replicas = 0;               // of workers, for the scale subresource
  std::string selector{};                  // of worker pods, for the scale subresource
  std::optional<DataVersion> sample_set{};
  Opaque rest{};
  bool operator==(const PaddleJobStatus&) const = default;
};

struct PaddleJob {
  static constexpr const char* kApiVersion = "batch.paddlepaddle.org/v1";
  static constexpr const char* kKind = "PaddleJob";

  Meta meta{};
  PaddleJobSpec spec{};
  PaddleJobStatus status{};
  Opaque rest{};
  bool operator==(const PaddleJob&) const = default;
};

// kInvalid with the path of the first field that has the wrong type. Unknown fields are kept.
Result<PaddleJob> decode_paddle_job(const Json& object);
// The inverse of decoding: the same JSON.
Json encode(const PaddleJob& job);
Json encode(const PaddleJobStatus& status);

// ps-1 -> PS, gpu -> GPU.
std::string task_type(const std::string& name);

enum class CleanPolicy { kAlways, kNever, kOnFailure, kOnCompletion };
// An empty policy is OnCompletion; the misspelled OnFailed and Nerver of old examples act as Never.
// cleanPolicy is used when cleanPodPolicy is empty.
CleanPolicy effective_clean_policy(const PaddleJobSpec& spec);

// Warnings for the user about fields that are accepted but probably not intended. Empty when there
// are none.
std::vector<std::string> warnings(const PaddleJob& job);

}  // namespace paddle::api
