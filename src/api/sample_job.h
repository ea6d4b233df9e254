// SPDX-License-Identifier: Apache-2.0
//
// SampleJob (batch.paddlepaddle.org/v1alpha1) as a value. sample_job_fields.h is the only list of
// the JSON names, limits and meanings of the fields. Plain values: copy them, compare them, share
// them between threads.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "api/shared.h"
#include "base/result.h"

namespace paddle::api {

struct LocalReference {
  std::string name{};
  Opaque rest{};
  bool operator==(const LocalReference&) const = default;
};

// The flags of `juicefs sync` under their own names. Optional where zero is a valid value.
struct SyncOptions {
  std::string source{};
  std::string destination{};
  std::string start{};
  std::string end{};
  std::optional<std::int64_t> threads{};
  std::optional<std::int64_t> http_port{};
  bool update = false;
  bool force_update = false;
  bool perms = false;
  bool dirs = false;
  bool dry = false;
  bool delete_src = false;
  bool delete_dst = false;
  std::string exclude{};
  std::string include{};
  std::string manager{};
  std::string worker{};
  std::optional<std::int64_t> bwlimit{};
  bool no_https = false;
  Opaque rest{};
  bool operator==(const SyncOptions&) const = default;
};

struct WarmupOptions {
  std::vector<std::string> paths{};
  std::optional<std::int32_t> partitions{};
  Strategy strategy{};
  std::string file{};
  std::optional<std::int64_t> threads{};
  Opaque rest{};
  bool operator==(const WarmupOptions&) const = default;
};

struct RmrOptions {
  std::vector<std::string> paths{};
  bool skip_trash = false;
  Opaque rest{};
  bool operator==(const RmrOptions&) const = default;
};

struct ClearOptions {
  std::vector<std::string> paths{};
  Opaque rest{};
  bool operator==(const ClearOptions&) const = default;
};

struct VerifyOptions {
  std::vector<std::string> paths{};
  bool repair = false;
  std::optional<std::int64_t> threads{};
  Opaque rest{};
  bool operator==(const VerifyOptions&) const = default;
};

struct SampleJobSpec {
  std::string type{};  // job_kinds.h
  std::optional<LocalReference> sample_set{};
  std::optional<SecretReference> secret{};
  bool terminate = false;
  std::optional<SyncOptions> sync{};
  std::optional<WarmupOptions> warmup{};
  std::optional<RmrOptions> rmr{};
  std::optional<ClearOptions> clear{};
  std::optional<VerifyOptions> verify{};
  std::string schedule{};
  std::string time_zone{};
  std::string concurrency_policy{};  // Allow (also when empty), Forbid or Replace
  bool suspend = false;
  std::optional<std::int64_t> starting_deadline_seconds{};
  std::optional<std::int32_t> successful_jobs_history_limit{};
  std::optional<std::int32_t> failed_jobs_history_limit{};
  std::optional<std::int32_t> backoff_limit{};
  std::optional<std::int64_t> active_deadline_seconds{};
  std::optional<std::int32_t> ttl_seconds_after_finished{};
  Opaque rest{};
  bool operator==(const SampleJobSpec&) const = default;
};

struct CronJobStatus {
  std::vector<ObjectReference> active{};
  std::optional<WallTime> last_schedule{};
  std::optional<WallTime> last_successful{};
  std::optional<WallTime> next_schedule{};
  Opaque rest{};
  bool operator==(const CronJobStatus&) const = default;
};

struct SampleJobStatus {
  std::string phase{};
  std::string job_name{};
  std::string progress{};  // for the column: "42% 1.7 GiB/4.2 GiB"
  std::optional<Work> work{};
  std::optional<Verification> verification{};
  std::vector<JobPartition> partitions{};
  std::vector<JobPartition> left{};  // parts of an abandoned division, not yet cancelled
  std::optional<CronJobStatus> cron{};
  std::int32_t failures = 0;
  std::optional<WallTime> last_failure{};
  std::optional<WallTime> start_time{};
  std::optional<WallTime> completion_time{};
  std::string
      duration{};  // for the column: from startTime to completionTime, or to the last progress
  std::int64_t observed_generation = 0;
  Conditions conditions{};
  Opaque rest{};
  bool operator==(const SampleJobStatus&) const = default;
};

struct SampleJob {
  static constexpr const char* kApiVersion = "batch.paddlepaddle.org/v1alpha1";
  static constexpr const char* kKind = "SampleJob";

  Meta meta{};
  SampleJobSpec spec{};
  SampleJobStatus status{};
  Opaque rest{};
  bool operator==(const SampleJob&) const = default;
};

// kInvalid with the path of the first field that has the wrong type. Unknown fields are kept.
Result<SampleJob> decode_sample_job(const Json& object);
// The inverse of decoding: the same JSON.
Json encode(const SampleJob& job);
Json encode(const SampleJobStatus& status);

}  // namespace paddle::api
