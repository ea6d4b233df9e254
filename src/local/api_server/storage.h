// SPDX-License-Identifier: Apache-2.0
//
// The objects of the embedded API server and the history of their changes, in one SQLite file with
// one revision counter, as in etcd.
//
//   state.db   objects(collection, ns, name) -> body, owners of fields
//              owners(owner uid -> dependents)   for the garbage collector
//              changes(revision -> body, before) for watches and for pages of older lists; bounded
//              counters(revision, compacted)
//
// write() is one transaction: it is durable (WAL, synchronous=FULL: fsync before the commit is
// visible) when it returns Done, or it has no effect. So neither a kill nor a power failure loses
// an acknowledged write. Readers use their own connection and see committed states only; they never
// wait for a writer's fsync.
//
// The directory is 0700 and the files 0600; a second server on the same directory is rejected. All
// members are thread-safe.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "base/unique_fd.h"
#include "kube/cluster.h"
#include "local/api_server/sqlite.h"
#include "local/api_server/transaction.h"

namespace paddle::local {

struct StorageOptions {
  std::string directory{};  // made when it is not there
  std::int64_t keep_changes = 4096;
  std::int64_t keep_bytes = std::int64_t{64} << 20;
  bool durable = true;  // false: a power failure may lose writes; for tests that write a lot
};

struct Change {
  std::uint64_t revision = 0;
  kube::EventType type = kube::EventType::kAdded;
  std::string body{};    // after the change; of a deletion the last state, with the new revision
  std::string before{};  // empty for a creation
};

struct Changes {
  std::vector<Change> list{};
  std::uint64_t up_to = 0;  // all changes of the collection up to here are included
};

struct Range {
  std::string collection{};
  std::string ns{};            // empty = all
  api::ObjectKey after{};      // exclusive; empty = from the beginning
  std::uint64_t revision = 0;  // as of this revision; 0 = now
};

class Storage {
 public:
  static Result<std::unique_ptr<Storage>> open(const StorageOptions& options);

  Result<std::optional<std::string>> get(const std::string& collection, const api::ObjectKey& key);

  // Passes objects in the order of (ns, name) to `sink` until it returns false; returns their
  // revision. kExpired when the requested revision is compacted.
  using BodySink = std::function<bool(const api::ObjectKey&, std::string_view body)>;
  Result<std::uint64_t> list(const Range& range, const BodySink& sink);

  // At most `limit` changes after `revision`, oldest first. kExpired when they are compacted.
  Result<Changes> changes(const std::string& collection, const std::string& ns,
                          std::uint64_t revision, int limit);

  Result<std::uint64_t> revision();

  // Runs `change` in a transaction, which is committed when it returns Done; an error or `dry_run`
  // rolls it back. Afterwards the listener is called with the changed collections.
  using Body = std::function<Result<>(Transaction&)>;
  Result<> write(const Body& change, bool dry_run = false);

  // Drops the changes up to `revision` (all when 0): older watches get kExpired.
  Result<> compact(std::uint64_t revision = 0);

  // Called after each commit without a lock held, on the writer's thread.
  using Listener = std::function<void(const std::set<std::string>& collections)>;
  void listen(Listener listener);

 private:
  Storage(StorageOptions options, UniqueFd lock, Database writer, Database reader);
  Result<> trim() REQUIRES(writing_);
  Result<> forget(std::int64_t last) REQUIRES(writing_);
  Result<std::set<std::string>> attempt(const Body& change, bool dry_run) REQUIRES(writing_);
  Result<std::uint64_t> list_now(const Range& range, const BodySink& sink) REQUIRES(reading_);
  Result<> list_at_revision(const Range& range, const BodySink& sink) REQUIRES(reading_);
  Result<> check_history(std::uint64_t revision) REQUIRES(reading_);

  const StorageOptions options_;
  const UniqueFd lock_;  // flock: one server per directory

  Mutex writing_;  // the locks are never held together
  Database writer_ GUARDED_BY(writing_);
  std::uint64_t writes_ GUARDED_BY(writing_) = 0;
  bool broken_ GUARDED_BY(writing_) = false;

  Mutex reading_;
  Database reader_ GUARDED_BY(reading_);

  Mutex listening_;
  Listener listener_ GUARDED_BY(listening_){};
};

}  // namespace paddle::local
