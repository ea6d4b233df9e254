// SPDX-License-Identifier: Apache-2.0
//
// A ObservedState with what its users need around it: decoding, indexes, handlers and counters, for
// values of any type (store.h gives it a type). Fed by a Reflector.
//
// Thread-safe. Values are immutable and shared: a reader keeps what it got for as long as it
// likes. Handlers are called one at a time, in the order of the changes, without the lock: on the
// thread that made the change, or on one that is already calling handlers. They may call anything
// here. They live as long as the cache; one that is registered late is first told what is there,
// perhaps by another thread and after on_change() has returned.
//
// An object that can not be decoded is counted, logged once, remembered as unreadable, and holds
// up nothing; a value it had before is dropped, since it is no longer true.

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
// before or after is null when it was not there or is gone.
using ChangeHandler =
    std::function<void(const ObjectKey& key, const Value& before, const Value& after)>;

class ObjectCache final : public ReflectorSink {
 public:
  ObjectCache(const Resource& resource, Decode decode, Metrics& metrics);
  ~ObjectCache() override;

  // A name that is known already keeps its first function.
  void add_index(const std::string& name, IndexFunction function);
  void on_change(ChangeHandler handler);

  // True once the first list is in and the handlers have been told of it.
  bool has_synced() const;
  // Returns has_synced(): true, or false when `stop` came first.
  bool wait_until_synced(std::stop_token stop) const;

  Value find(const ObjectKey& key) const;
  std::vector<Value> list() const;
  std::vector<Value> list(const std::string& index, const std::string& entry) const;
  size_t size() const;
  bool is_unreadable(const ObjectKey& key) const;

  // What the server answered to our write; rules in view.h. One that can not be decoded is ignored.
  void acknowledge(const Json& written);
  void acknowledge(ObjectState written);
  void acknowledge_deleted(const ObjectKey& key, const std::string& uid,
                           const std::string& version);

  void begin_list() override;
  void list_item(std::string_view object) override;
  void end_list(const std::string& version) override;
  Result<std::string> event(const WatchEvent& event) override;
  void list_begins() override;
  void watch_begins() override;

 private:
  struct Index {
    IndexFunction function{};
    std::map<std::string, std::set<ObjectKey>> entries{};
  };
  // Something to tell the handlers with numbers first <= n < last.
  struct Notification {
    size_t first = 0;
    size_t last = 0;
    Change change{};
    bool synced = false;  // not a change: the first list is in
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
  size_t reported_ GUARDED_BY(mutex_) = 0;  // what the gauge shows for us
};

}  // namespace paddle::kube
