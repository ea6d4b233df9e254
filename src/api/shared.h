// SPDX-License-Identifier: Apache-2.0
//
// Small structs that more than one resource uses. Every struct of a resource has a member `rest`:
// unknown keys and spellings that survive a round trip (schema/codec.h).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"

namespace paddle::api {

// metav1.Condition.
struct Condition {
  std::string type{};
  std::string status{};  // "True", "False" or "Unknown"
  std::string reason{};
  std::string message{};
  std::optional<WallTime> last_transition{};
  std::int64_t observed_generation = 0;
  Opaque rest{};
  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;

const Condition* find_condition(const Conditions& conditions, std::string_view type);
// Adds the condition or replaces the one of its type. last_transition becomes `now` when the status
// changes; otherwise it is kept. Returns true when anything changed.
bool set_condition(Conditions& conditions, Condition wanted, WallTime now);

struct ObjectReference {
  std::string api_version{};
  std::string kind{};
  std::string ns{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  std::string field_path{};
  Opaque rest{};
  bool operator==(const ObjectReference&) const = default;
};

struct SecretReference {
  std::string name{};
  std::string ns{};  // empty: the object's own namespace
  Opaque rest{};
  bool operator==(const SecretReference&) const = default;
};

// `none` is the name that published examples give when a source needs no credentials. Such a Secret
// is used if it exists, and is not waited for.
inline bool may_be_missing(const SecretReference& secret) { return secret.name == "none"; }

// In which order files are warmed up and on which partition: the order of Paddle's samplers.
inline constexpr const char* kStrategies[] = {"sequence", "random", "distributedBatch"};

struct Strategy {
  std::string name{};  // one of kStrategies; empty means sequence
  std::optional<std::int64_t> batch_size{};
  std::optional<std::int64_t> ranks{};
  std::optional<std::int64_t> seed{};
  std::optional<std::int64_t> epoch{};
  std::optional<bool> shuffle{};
  std::optional<bool> drop_last{};
  bool operator==(const Strategy&) const = default;
};

// Progress of a job: how much is done, and of how much.
struct Work {
  std::int64_t files_total = 0;
  std::int64_t files_done = 0;
  std::int64_t files_failed = 0;
  std::int64_t bytes_total = 0;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_per_second = 0;
  std::int64_t eta_seconds = 0;
  Opaque rest{};
  bool operator==(const Work&) const = default;
};

// What is wrong with a sample, the worst first.
namespace sample_problem {
inline constexpr const char* kCorrupt = "corrupt";  // cached bytes that are not the source's
inline constexpr const char* kStale = "stale";      // the source has another version now, or none
inline constexpr const char* kMissing = "missing";  // not cached, or in part
}  // namespace sample_problem
inline constexpr const char* kSampleProblems[] = {sample_problem::kCorrupt, sample_problem::kStale,
                                                  sample_problem::kMissing};

struct FoundProblem {
  std::string path{};     // short and printable
  std::string problem{};  // one of kSampleProblems
  bool repaired = false;
  Opaque rest{};
  bool operator==(const FoundProblem&) const = default;
};

// What a verification has found. A sample may be stale and also corrupt or missing.
struct Verification {
  static constexpr std::size_t kMostNamed = 20;

  std::int64_t checked = 0;
  std::int64_t compared = 0;  // with a digest of the source, or with its bytes
  std::int64_t missing = 0;
  std::int64_t stale = 0;
  std::int64_t corrupt = 0;
  std::int64_t repaired = 0;                   // of the missing and corrupt ones
  std::vector<FoundProblem> first_problems{};  // at most kMostNamed, the worst first
  Opaque rest{};
  bool operator==(const Verification&) const = default;
};

// The part of a job that one runtime does.
struct JobPartition {
  std::int32_t index = 0;
  std::string id{};  // id of the job at the runtime, stored before it is sent
  std::string node{};
  std::string state{};  // Pending, Running, Succeeded, Failed, Cancelled
  std::string message{};
  std::string cut{};  // shared syncs: the division that this part belongs to
  std::optional<Work> work{};
  std::optional<Verification> verification{};
  // Shared syncs: since when the runtime is away, or since when this part has failed.
  std::optional<WallTime> stalled_since{};
  Opaque rest{};
  bool operator==(const JobPartition&) const = default;
};

}  // namespace paddle::api
