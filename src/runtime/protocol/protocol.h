// SPDX-License-Identifier: Apache-2.0
//
// The messages between the operator and a Cache Runtime Server, and their JSON. Pure. Unknown
// fields are ignored on both sides, so that either may be newer. docs/design/0006 has the paths.

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

// The longest answer that callers read, lists of paths aside. Runtimes are pods of users, and what
// they send becomes objects in a manager's memory.
inline constexpr std::size_t kLongestAnswer = std::size_t{64} << 10;
// Of the error of a job.
inline constexpr std::size_t kLongestJobError = 1'000;

using api::JobKind;
using api::parse_job_kind;

// A server has credentials of its own; those of another source are sent with the job, over TLS, and
// stay in memory. `job` of the task and of the selection is not sent: it is the id in the path.
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
  std::int64_t synced = 0;  // generation of the latest sync; 0: the engine has none
  engine::LeftOut left_out{};
  bool operator==(const IndexReport&) const = default;
};

struct CacheReport {
  std::int64_t files = 0;  // wholly cached files of the current index; 0 also: not known
  std::int64_t bytes = 0;  // cached bytes of the current index
  std::int64_t limit = 0;  // of the cache
  std::int64_t disk_size = 0;
  std::int64_t disk_used = 0;
  std::int64_t disk_avail = 0;
  std::string life{};  // engine::Status::life
  bool operator==(const CacheReport&) const = default;
};

// Bytes that readers have read since the server's start, by their origin, and all downloaded bytes.
struct ReadsReport {
  std::int64_t from_cache = 0;
  std::int64_t from_memory = 0;
  std::int64_t from_source = 0;
  std::int64_t downloaded = 0;
  bool operator==(const ReadsReport&) const = default;
};

// The latest warm-up, of any caller.
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
  std::int64_t mounts = 0;      // mounts that are served
  std::int64_t part_bytes = 0;  // of the part that was warmed up last
  std::int64_t part_cached_bytes = 0;
  std::optional<LastWarmUp> last_warm_up{};  // absent: none is remembered
  std::string remark{};                      // for users, about something that is not a failure
  std::string source_error{};                // engine::Status::source_error
  // Id of the latest sync that succeeded, while it is remembered. Parts of a shared sync do not
  // count.
  std::string synced_by{};
  std::string error{};
  bool operator==(const StatusReport&) const = default;
};

// The answer to a poll, in one message: the status, and the jobs that the caller has asked for. A
// job that has ended is in effect in the status.
struct PollReport {
  StatusReport status{};
  // Without those that the server does not know. Absent: an older server, which has to be asked for
  // each job.
  std::optional<std::vector<JobReport>> jobs{};
  bool operator==(const PollReport&) const = default;
};
inline constexpr const char* kAllJobs = "*";
// The path of a poll for these jobs: "/v1/status?jobs=a,b". kAllJobs among them, or very many of
// them: all jobs are reported.
std::string poll_path(const std::vector<std::string>& jobs);
// The ids in the query of such a path, which is "jobs=a,b". Absent: it has none.
std::optional<std::vector<std::string>> jobs_of_query(const std::string& query);

// decode(encode(x)) == x. kInvalid names the field that is wrong.
api::Json encode(const JobRequest& request);
api::Json encode(const JobReport& report);
api::Json encode(const StatusReport& report);
api::Json encode(const PollReport& report);
Result<JobRequest> decode_job_request(const api::Json& from);
Result<JobReport> decode_job_report(const api::Json& from);
Result<StatusReport> decode_status_report(const api::Json& from);
Result<PollReport> decode_poll_report(const api::Json& from);
// A list of jobs that leaves room for a status within kLongestAnswer: where not all fit, the oldest
// of those that have ended are left out. In the given order, the oldest first.
api::Json encode_jobs(const std::vector<JobReport>& jobs);

// Whether it may be a job's id: 1 to 64 letters, digits, '-' and '.', not beginning with '.'.
bool is_job_id(const std::string& text);

}  // namespace paddle::runtime
