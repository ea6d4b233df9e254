// SPDX-License-Identifier: Apache-2.0
//
// An ObservedState with what its users need: decoding, indexes, handlers and counters, for values
// of any type (store.h adds the type). Fed by a Reflector.
//
// Thread-safe. Values are immutable and shared: a reader may keep them. Handlers are called one at
// a time, in the order of the changes, without the lock: on the thread that made the change, or on
// one that is already calling handlers. They may call any method of the cache. They live as long as
// the cache. A handler that is registered late is first called for the objects that exist, perhaps
// by another thread and after on_change() has returned.
//
// An object that cannot be decoded is counted, logged once, and remembered as unreadable; it does
// not affect other objects. A value that it had before is dropped, because it is outdated.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/sync.h"
#include "kube/informer/reflector.h"
#include "kube/informer/state/observed_state.h"

namespace paddle::kube {

using Decode = std::function<Result<Value>(const Json& object)>;
using IndexFunction = std::function<std::vector<std::string>(const void* value)>;
// `before` is null when the object is new, `after` when it is gone.
using ChangeHandler =
    std::function<void(const ObjectKey& key, const Value& before, const Value& after)>;

class ObjectCache final : public ReflectorSink {
 public:
  ObjectCache(const Resource& resource, Decode decode, Metrics& metrics);
  ~ObjectCache() override;

  // A name that exists already keeps its first function.
  void add_index(const std::string& name, IndexFunction function);
  void on_change(ChangeHandler handler);

  // True after the first list is complete and the handlers have been called for it.
  bool has_synced() const;
  // Waits for has_synced(); false when `stop` came first.
  bool wait_until_synced(std::stop_token stop) const;

  Value find(const ObjectKey& key) const;
  std::vector<Value> list() const;
  std::vector<Value> list(const std::string& index, const std::string& entry) const;
  size_t size() const;
  bool is_unreadable(const ObjectKey& key) const;

  // The server's response to our own write; observed_state.h has the rules. An object that cannot
  // be decoded is ignored.
  void acknowledge(const Json& written);
  void acknowledge(ObjectState written);
  void acknowledge_deleted(const ObjectKey& key, const std::string& uid,
                           const std::string& version);

  void begin_list() override;
  void list_item(std::string_view object) override;
  void end_list(const std::string& version, bool most_recent) override;
  Result<std::string> event(const WatchEvent& event) override;
  void list_begins() override;
  void watch_begins() override;

 private:
  struct Index {
    IndexFunction function{};
    std::map<std::string, std::set<ObjectKey>> entries{};
  };
  // A call that the handlers with the numbers first <= n < last are to receive.
  struct Notification {
    size_t first = 0;
    size_t last = 0;
    Change change{};
    bool synced = false;  // not a change: the first list is complete
  };

  Result<ObjectState> read(const Json& object) const;
  void decode(const Json& object, ObjectState& seen);
  void publish(Changes changes) REQUIRES(mutex_);
  static void reindex(Index& index, const Change& change);
  void dispatch() EXCLUDES(mutex_);

  const Resource resource_;
  const Decode decode_;
  prometheus::Gauge& objects_;
  prometheus::Counter& lists_;
  prometheus::Counter& watches_;
  prometheus::Counter& unreadable_;

  mutable Mutex mutex_;
  mutable CondVar synced_changed_;
  ObservedState state_ GUARDED_BY(mutex_);
  std::map<std::string, Index> indexes_ GUARDED_BY(mutex_){};
  std::vector<std::shared_ptr<const ChangeHandler>> handlers_ GUARDED_BY(mutex_){};
  std::deque<Notification> notifications_ GUARDED_BY(mutex_){};
  bool dispatching_ GUARDED_BY(mutex_) = false;
  bool list_done_ GUARDED_BY(mutex_) = false;
  bool synced_ GUARDED_BY(mutex_) = false;
  size_t decoded_in_list_ GUARDED_BY(mutex_) = 0;
  size_t reported_ GUARDED_BY(mutex_) = 0;  // our part of the gauge
};

}  // namespace paddle::kube
