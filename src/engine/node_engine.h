// SPDX-License-Identifier: Apache-2.0
//
// The node's face of a cache engine: what a Cache Runtime Server has done on its node. The
// operator's face is manifests.h. An engine does I/O and knows nothing of jobs, ids or HTTP.
//
// Calls of different kinds may run at once; two of one kind do not. Each is idempotent: cut short
// by a kill, it is called again with the same arguments. Each blocks, ends soon after `stop` with
// kCancelled, and says how far it is through `tell` (from any of its threads, one at a time).
// An error is one sentence for the user, with what to do, and holds no secret.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/job_kinds.h"
#include "base/result.h"
#include "sampler/strategy.h"

namespace paddle::engine {

// What a source has and the set cannot show: how many, and a few of them, each with why. The texts
// are short and printable.
struct LeftOut {
  std::int64_t count = 0;
  std::vector<std::string> examples{};
  bool operator==(const LeftOut&) const = default;
};

struct Progress {
  std::int64_t files_total = 0;  // 0 while not known
  std::int64_t files_done = 0;
  std::int64_t files_failed = 0;
  std::int64_t files_no_room = 0;
  std::int64_t bytes_total = 0;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_per_second = 0;
  std::optional<std::int64_t> seconds_left{};
  std::string cut{};   // of a part of a sync: which division it is a part of
  LeftOut left_out{};  // of a sync
  bool operator==(const Progress&) const = default;
};
using ProgressSink = std::function<void(const Progress&)>;

// Which files of the set: those at and beneath `paths` (none: all), or those that `file` of the set
// lists, a path per line; of these, in the order of their paths (of the lines), the part that the
// sampler gives to `partition` of `partitions`.
struct Selection {
  std::vector<std::string> paths{};  // relative to the root of the set
  std::string file{};                // as well
  std::int32_t partition = 0;
  std::int32_t partitions = 1;
  sampler::Strategy strategy{};
  std::int32_t threads = 0;  // 0: the engine's own choice
  bool skip_trash = false;   // of remove(): frees the space at once
  // Of remove(): when it was first asked for, in milliseconds since 1970; what is younger stays. 0:
  // not known, nothing stays.
  std::int64_t accepted = 0;
  // Of remove(): it may have had its effect before, so what is not there is no error.
  bool again = false;
  // Who knows the lists, for an engine whose runtimes can not each derive their own: host:port of
  // the first partition's runtime. Asked under the id of the job.
  std::string lists_at{};
  std::string job{};
  bool operator==(const Selection&) const = default;
};

// Keys of a source, under the names that its Secret gives them. They are said nowhere and do not
// make a task another one. Who needs them after the sync keeps them in a file that only it can
// read.
struct SourceKeys {
  std::map<std::string, std::string> values{};
  bool operator==(const SourceKeys&) const { return true; }
};

// What a sync brings from where to where. All empty: the set's own source, to the root of the set.
struct SyncTask {
  std::string source{};       // a URI without credentials; empty: the set's own
  std::string destination{};  // relative to the root of the set
  std::string start{};        // first and last name, as the engine orders them
  std::string end{};
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::int32_t threads = 0;
  std::int64_t megabits = 0;  // per second, of this process; 0: no limit
  bool update = false;
  bool force_update = false;
  bool perms = false;
  bool dirs = false;
  bool dry = false;
  bool delete_source = false;
  bool delete_destination = false;
  bool no_https = false;  // the source is spoken to in the clear
  // Several runtimes may share a sync, for an engine whose runtimes see one volume: this is `part`
  // of `parts`. The first part's runtime divides the work and is asked at `lists_at` (host:port)
  // under the id of the job.
  std::int32_t part = 0;
  std::int32_t parts = 1;
  std::string lists_at{};
  std::string job{};  // the id it was asked for under
  // The id under which the parts were first asked for, when this one is tried again under another.
  std::string division{};
  bool counts = false;  // all parts have been done: nothing is left but to remember it
  SourceKeys keys{};    // none: the set's own
  bool operator==(const SyncTask&) const = default;
};

// Its rules of inclusion, to be followed by those of exclusion. A directory that is left out hides
// all that is in it: who wants nothing but what is included wants it from every directory. Pure.
inline std::vector<std::string> inclusions_of(const SyncTask& task) {
  std::vector<std::string> rules = task.include;
  const bool nothing_else = std::ranges::find(task.exclude, "*") != task.exclude.end();
  if (nothing_else && !rules.empty()) rules.emplace_back("*/");
  return rules;
}

// One job, and what it is about.
struct JobRequest {
  api::JobKind kind = api::JobKind::kSync;
  SyncTask sync{};    // of a sync
  Selection which{};  // of the others
  bool operator==(const JobRequest&) const = default;
};

struct Status {
  struct Index {
    std::int64_t generation = 0;  // 0: this engine does not count; the operator does
    std::string digest{};
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::int64_t synced = 0;  // the generation that the latest sync made, when it counts
    LeftOut left_out{};       // by the latest sync of each source
  };
  std::optional<Index> index{};  // absent before the first sync

  std::optional<std::int64_t> cached_files{};  // of the index, whole; absent: not known
  std::int64_t cached_bytes = 0;               // of the index
  std::int64_t limit = 0;                      // what the cache may take
  std::int64_t disk_size = 0;
  std::int64_t disk_used = 0;
  std::int64_t disk_avail = 0;

  std::int64_t from_cache = 0;  // bytes that readers got, since the start
  std::int64_t from_memory = 0;
  std::int64_t from_source = 0;
  std::int64_t downloaded = 0;

  std::int64_t mounts = 0;  // being served
  // Of the part that was warmed up last: 0 before.
  std::int64_t part_bytes = 0;
  std::int64_t part_cached_bytes = 0;
  // In which life of the node's cache these figures were seen: another one may have lost what was
  // there though nobody cleared it. Empty: not known, or this engine's caches outlive it.
  std::string life{};
  // Something that users should know though nothing failed; one sentence, or empty.
  std::string remark{};
};

class NodeEngine {
 public:
  virtual ~NodeEngine() = default;
  virtual std::string name() const = 0;
  // Syncs and removals are to be run one after the other, in the order in which they were accepted:
  // each is quick, and what was accepted last holds.
  virtual bool changes_in_order() const { return false; }

  // Runs one job to its end.
  //   sync     the set is as its source is now, for all readers from the return on
  //   warm-up  what does not fit into the cache is no error; a file that failed is
  //   clear    files are dropped from the cache and stay in the set
  //   removal  files are gone from the set until a later sync brings them again
  virtual Result<> run(const JobRequest& job, const ProgressSink& report, std::stop_token stop) = 0;

  // What `partition` of a warm-up that was asked for here under the id `job` reads: paths relative
  // to the root of the set, one a line. kNotFound: no such job yet, or an engine whose runtimes
  // each derive their own.
  virtual Result<std::string> list_for(const std::string& job, std::int32_t partition);

  // Returns at once: what takes long is looked at in the background.
  virtual Status status() = 0;
};

inline Result<std::string> NodeEngine::list_for(const std::string& job, std::int32_t) {
  return Error{Code::kNotFound, "this engine keeps no list of '" + job + "'"};
}

}  // namespace paddle::engine
