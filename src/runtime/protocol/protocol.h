// SPDX-License-Identifier: Apache-2.0
//
// What is said between the operator and a Cache Runtime Server: values and their JSON. Pure.
// Unknown fields are ignored on both sides, so that either may be newer. Paths: docs/design/0006.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/job_kinds.h"
#include "api/json/json.h"
#include "base/result.h"
#include "engine/node_engine.h"

namespace paddle::runtime {

inline constexpr int kPort = 7716;

using api::JobKind;
using api::parse_job_kind;

// A server has credentials of its own; those of another source come with the job, over TLS, and are
// kept in memory alone. `job` of its task and of its selection is not sent: it is the id.
using engine::JobRequest;

enum class JobState { kQueued, kRunning, kSucceeded, kFailed, kCancelled };
std::string to_string(JobState state);  // queued, running, succeeded, failed, cancelled
Result<JobState> parse_job_state(const std::string& text);
bool ended(JobState state);

struct JobReport {
  std::string id{};
  JobKind kind = JobKind::kSync;
  JobState state = JobState::kQueued;
  engine::Progress progress{};
  std::string error{};         // one sentence; no secrets
  bool cleared_since = false;  // a job that clears the cache came after it
  bool operator==(const JobReport&) const = default;
};

struct IndexReport {
  std::int64_t generation = 0;
  std::string digest{};
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t synced = 0;  // the generation that the latest sync made; 0: this engine does not say
  engine::LeftOut left_out{};
  bool operator==(const IndexReport&) const = default;
};

struct CacheReport {
  std::int64_t files = 0;  // of the current index, in the cache as a whole; 0 also: not known
  std::int64_t bytes = 0;  // of the current index, in the cache
  std::int64_t limit = 0;  // what the cache may take in all
  std::int64_t disk_size = 0;
  std::int64_t disk_used = 0;
  std::int64_t disk_avail = 0;
  std::string life{};  // of what holds it: another one may have lost it (engine.h)
  bool operator==(const CacheReport&) const = default;
};

// Where the bytes that readers got came from, since the server's start; what was downloaded in all.
struct ReadsReport {
  std::int64_t from_cache = 0;
  std::int64_t from_memory = 0;
  std::int64_t from_source = 0;
  std::int64_t downloaded = 0;
  bool operator==(const ReadsReport&) const = default;
};

// The warm-up that came last, whoever asked for it.
struct LastWarmUp {
  bool ended = false;
  std::int64_t files_no_room = 0;
  bool cleared_since = false;  // a job that clears the cache came after it
  bool operator==(const LastWarmUp&) const = default;
};

struct StatusReport {
  std::string engine{};
  std::optional<IndexReport> index{};  // absent before the first sync
  CacheReport cache{};
  ReadsReport reads{};
  std::int64_t mounts = 0;      // sessions being served
  std::int64_t part_bytes = 0;  // of the part that was warmed up last
  std::int64_t part_cached_bytes = 0;
  std::optional<LastWarmUp> last_warm_up{};  // absent: none that is remembered
  std::string remark{};                      // what users should know though nothing failed
  // Id of the latest sync that succeeded, as long as it is remembered; parts of one do not count.
  std::string synced_by{};
  std::string error{};
  bool operator==(const StatusReport&) const = default;
};

// decode(encode(x)) == x; kInvalid names the field that is not what it should be.
api::Json encode(const JobRequest& request);
api::Json encode(const JobReport& report);
api::Json encode(const StatusReport& report);
Result<JobRequest> decode_job_request(const api::Json& from);
Result<JobReport> decode_job_report(const api::Json& from);
Result<StatusReport> decode_status_report(const api::Json& from);

// 1 to 64 of letters, digits, '-' and '.', not beginning with '.'; what may be a job's id.
bool is_job_id(const std::string& text);

}  // namespace paddle::runtime
