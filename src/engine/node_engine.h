// SPDX-License-Identifier: Apache-2.0
//
// What a cache engine does on a node, for a Cache Runtime Server. What it does for the operator is
// in manifests.h. An engine does I/O; queues, the journal and HTTP belong to the runtime.
//
// Jobs of different kinds may run at the same time, two of one kind or two that change the set do
// not. run() is idempotent: after a kill it is called again with the same request. It blocks, ends
// soon after `stop` with kCancelled, and calls `report` with its progress (from any of its threads,
// one call at a time). An error is one sentence for the user with what to do, and has no secret.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/job_kinds.h"
#include "api/shared.h"
#include "base/result.h"
#include "sampler/strategy.h"

namespace paddle::engine {

// Objects of a source that the set cannot show: their number, and a few examples, each with the
// reason. The texts are short and printable.
struct LeftOut {
  std::int64_t count = 0;
  std::vector<std::string> examples{};
  bool operator==(const LeftOut&) const = default;
};

struct Progress {
  std::int64_t files_total = 0;  // 0: not known yet
  std::int64_t files_done = 0;
  std::int64_t files_failed = 0;
  std::int64_t files_no_room = 0;
  std::int64_t bytes_total = 0;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_per_second = 0;
  std::optional<std::int64_t> seconds_left{};
  std::string cut{};   // part of a shared sync: the division that it belongs to
  LeftOut left_out{};  // of a sync; of a removal: newer files
  std::optional<api::Verification> verification{};  // of a verification: found so far
  bool operator==(const Progress&) const = default;
};
using ProgressSink = std::function<void(const Progress&)>;

// Which files of the set: those at and beneath `paths` (none: all), or those that the file `file`
// of the set lists, a path per line. Of these, in the order of their paths (or of the lines), the
// part that the sampler gives to `partition` of `partitions`.
struct Selection {
  std::vector<std::string> paths{};  // relative to the root of the set
  std::string file{};                // relative to the root of the set
  std::int32_t partition = 0;
  std::int32_t partitions = 1;
  sampler::Strategy strategy{};
  std::int32_t threads = 0;  // 0: the engine chooses
  bool skip_trash = false;   // removal: free the space at once
  bool repair = false;       // verification: fetch again what is missing or corrupt
  // Removal: when it was first accepted, in milliseconds since 1970. Newer files stay. 0: not
  // known, nothing stays.
  std::int64_t accepted = 0;
  // Removal: an earlier run may have had its effect, so a missing path is no error.
  bool again = false;
  // Where lists are fetched by the id of the job, for an engine whose runtimes share a volume:
  // host:port of the first partition's runtime.
  std::string lists_at{};
  std::string job{};
  bool operator==(const Selection&) const = default;
};

// Keys of a source, by their names in its Secret. Never logged. Ignored by ==, so that rotated
// credentials do not change a request. An engine that needs them after the sync keeps them in a
// file that only it can read.
struct SourceKeys {
  std::map<std::string, std::string> values{};
  bool operator==(const SourceKeys&) const { return true; }
};

// The keys of a Secret that a source of any engine can use; no other is sent to a runtime.
// What they mean: samplefs/node/sources/source_secret.h, juicefs/node/command/source_access.h.
inline constexpr auto kSourceKeyNames = std::to_array<std::string_view>(
    {"access-key", "secret-key", "session-token", "endpoint", "region", "ca.crt", "address-style",
     "bwlimit", "list-threads", "version-ids", "etag-is-md5"});

// What a sync copies, from where to where. All empty: the set's own source, to the root of the set.
struct SyncTask {
  std::string source{};       // a URI without credentials; empty: the set's own
  std::string destination{};  // relative to the root of the set
  std::string start{};        // first and last key, in the engine's order
  std::string end{};
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::int32_t threads = 0;
  std::int64_t megabits = 0;  // rate limit of this runtime, per second; 0: none
  bool update = false;
  bool force_update = false;
  bool perms = false;
  bool dirs = false;
  bool dry = false;
  bool delete_source = false;
  bool delete_destination = false;
  bool no_https = false;  // the source has no TLS
  // With an engine whose runtimes share a volume, several runtimes may share a sync: this is `part`
  // of `parts`. The runtime of the first part divides the work; the others fetch their part from it
  // at `lists_at` (host:port) by the id of the job.
  std::int32_t part = 0;
  std::int32_t parts = 1;
  std::string lists_at{};
  std::string job{};  // id of the job
  // A part that is tried again under another id: the id of the first attempt.
  std::string division{};
  // Commit marker of a shared sync: all parts are done. Record this id as the last complete sync
  // and copy nothing.
  bool counts = false;
  SourceKeys keys{};  // none: the set's own
  bool operator==(const SyncTask&) const = default;
};

// The include rules of a sync, which come before its exclude rules. An excluded directory hides its
// contents, so "include x, exclude everything else" must include every directory. Pure.
inline std::vector<std::string> inclusions_of(const SyncTask& task) {
  std::vector<std::string> rules = task.include;
  const bool nothing_else = std::ranges::find(task.exclude, "*") != task.exclude.end();
  if (nothing_else && !rules.empty()) rules.emplace_back("*/");
  return rules;
}

// One job.
struct JobRequest {
  api::JobKind kind = api::JobKind::kSync;
  SyncTask sync{};    // sync only
  Selection which{};  // all other kinds
  bool operator==(const JobRequest&) const = default;
};

struct Status {
  struct Index {
    std::int64_t generation = 0;  // 0: the engine has none, the operator counts
    std::string digest{};
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::int64_t synced = 0;  // generation of the latest sync; 0: the engine has none
    LeftOut left_out{};       // by the latest sync of each source
  };
  std::optional<Index> index{};  // absent before the first sync

  std::optional<std::int64_t> cached_files{};  // wholly cached, of the index; absent: not known
  std::int64_t cached_bytes = 0;               // of the index
  std::int64_t limit = 0;                      // of the cache, in bytes
  std::int64_t disk_size = 0;
  std::int64_t disk_used = 0;
  std::int64_t disk_avail = 0;

  std::int64_t from_cache = 0;  // bytes that readers have read since the start
  std::int64_t from_memory = 0;
  std::int64_t from_source = 0;
  std::int64_t downloaded = 0;

  std::int64_t mounts = 0;  // being served
  // The part that was warmed up last; 0: none.
  std::int64_t part_bytes = 0;
  std::int64_t part_cached_bytes = 0;
  // Id of the process that holds the cache, while these numbers were measured. Another id means
  // that the contents may be lost although no job cleared them. Empty: not known, or the cache
  // survives restarts.
  std::string life{};
  // One sentence for users about something that is not a failure; empty: none.
  std::string remark{};
  // Why samples that are not cached cannot be read now: a source does not answer. Empty: it does,
  // or no read has needed it.
  std::string source_error{};
};

class NodeEngine {
 public:
  virtual ~NodeEngine() = default;
  virtual std::string name() const = 0;
  // Runs one job to its end.
  //   sync     the set is as its source is now, for all readers from the return on
  //   warm-up  what does not fit into the cache is no error; a file that failed is
  //   clear    files are dropped from the cache and stay in the set
  //   removal  files are gone from the set until a later sync brings them again
  //   verify   what is cached was compared with the source; problems that are only reported are no
  //            error, one that could not be repaired is
  virtual Result<> run(const JobRequest& job, const ProgressSink& report, std::stop_token stop) = 0;

  // The part of `partition` in the job `job`: paths relative to the root of the set, one per line,
  // or the part of a sync. kNotFound: the job is not known (yet), or the engine's runtimes derive
  // their own.
  virtual Result<std::string> list_for(const std::string& job, std::int32_t partition);

  // Returns at once: what takes long is measured in the background.
  virtual Status status() = 0;
};

inline Result<std::string> NodeEngine::list_for(const std::string& job, std::int32_t) {
  return Error{Code::kNotFound, "this engine has no list of '" + job + "'"};
}

}  // namespace paddle::engine
