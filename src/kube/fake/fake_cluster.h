// SPDX-License-Identifier: Apache-2.0
//
// The Kubernetes API in memory, with the API server's rules, for unit tests.
//
// Implemented: one global resourceVersion counter; uid, creationTimestamp and generation (kinds
// with a status subresource; spec changes only); optimistic concurrency; generateName; finalizers,
// deletionTimestamp, grace periods of pods; uid and resourceVersion preconditions; label and field
// selectors; merge and JSON patches; server-side apply (a subset: kube/rules/server_side_apply.h);
// the separation of status; the scale of PaddleJobs; paged lists at one version; watches with
// history, bookmarks and 410 after compact(); a garbage collector (kube/rules/garbage_collector.h)
// that can be switched off. Not implemented: admission, schemas and defaults of kinds, the
// existence of namespaces, managedFields.
//
// Thread-safe. Sinks and the observer are called without the lock, so they may call back.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "kube/fake/request.h"
#include "kube/fake/storage.h"
#include "kube/rules/garbage_collector.h"

namespace paddle::kube {

struct FakeOptions {
  std::uint64_t seed = 1;        // for uids and generated names
  bool collects_garbage = true;  // false: as an API server without a controller manager
  const Clock* clock = nullptr;  // null: the machine's
  size_t history_limit = 0;      // changes that are kept for watches; 0: all until compact()
};

class FakeCluster final : public Cluster {
 public:
  explicit FakeCluster(const FakeOptions& options = {});

  Result<Json> get(const Resource&, const ObjectKey&, const Call& = {}) override;
  Result<std::string> list(const Resource&, const ListOptions&, const ItemSink& sink,
                           const Call& = {}) override;
  Result<> watch(const Resource&, const WatchOptions&, const EventSink& sink,
                 const Call& = {}) override;
  Result<Json> create(const Resource&, const Json& object, const Call& = {}) override;
  Result<Json> update(const Resource&, const Json& object, const std::string& sub = {},
                      const Call& = {}) override;
  Result<Json> patch(const Resource&, const ObjectKey&, const Patch&, const std::string& sub = {},
                     const Call& = {}) override;
  Result<> remove(const Resource&, const ObjectKey&, const DeleteOptions& = {},
                  const Call& = {}) override;
  Result<Json> get_sub(const Resource&, const ObjectKey&, const std::string& sub,
                       const Call& = {}) override;

  // Events that a client has to cope with.
  void compact();  // history and pages of running lists are dropped: later reads get 410
  // From now on, until resume_cache(), lists at a version are served from the state of this moment,
  // as by an API server whose cache is behind.
  void stop_cache();
  void resume_cache();
  void send_bookmarks();    // to every open watch that wants them
  void end_watches();       // as the server does after the watch's timeout
  void cut_watches();       // as a broken connection does
  void collect_dangling();  // the garbage collector notices dependents without an owner

  // The calls of the clients, in the order of arrival, refused ones included.
  std::vector<Request> requests() const;
  void forget_requests();
  // Called at the start of each call.
  void observe(std::function<void(const Request&)> observer);
  size_t open_watches() const;
  std::string version() const;  // the latest resourceVersion

 private:
  struct Watcher;
  Result<> begin(const Request& request, const Call& call) EXCLUDES(mutex_);
  Result<Json> create_locked(const Resource& resource, const Json& object, FieldOwners owners)
      REQUIRES(mutex_);
  Result<Json> write_locked(const Resource& resource, const Record& old, Json incoming,
                            const std::string& sub, FieldOwners* owners) REQUIRES(mutex_);
  Result<Json> patch_locked(const Resource& resource, const ObjectKey& key, const Patch& patch,
                            const std::string& sub) REQUIRES(mutex_);
  Result<Json> apply_locked(const Resource& resource, const ObjectKey& key, const Patch& patch,
                            const std::string& sub) REQUIRES(mutex_);
  Result<> next_events(Watcher& watcher, bool& ended) EXCLUDES(mutex_);
  Result<bool> gather(Watcher& watcher, bool& ended) REQUIRES(mutex_);

  const Clock& clock_;
  Random random_;

  mutable Mutex mutex_;
  CondVar changed_;
  FakeStorage storage_ GUARDED_BY(mutex_);
  std::optional<FakeStorage> cache_ GUARDED_BY(mutex_){};
  GarbageCollector garbage_ GUARDED_BY(mutex_);
  std::vector<Request> requests_ GUARDED_BY(mutex_){};
  std::function<void(const Request&)> observer_ GUARDED_BY(mutex_){};
  size_t open_watches_ GUARDED_BY(mutex_) = 0;
  std::uint64_t bookmarks_ GUARDED_BY(mutex_) = 0;  // counts of requests: each watch
  std::uint64_t ends_ GUARDED_BY(mutex_) = 0;       // compares with the count it started at
  std::uint64_t cuts_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::kube
