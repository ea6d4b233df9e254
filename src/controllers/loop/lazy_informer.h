// SPDX-License-Identifier: Apache-2.0
//
// An informer that starts when it is first used: for kinds that few objects need, or that a cluster
// may not have. An operator that waited for such a kind at its start could wait for ever.
// Thread-safe.

#pragma once

#include <functional>
#include <optional>

#include "base/sync.h"
#include "kube/cluster.h"
#include "kube/informer/informers.h"

namespace paddle::controllers {

template <typename T>
class LazyInformer {
 public:
  enum class State { kReady, kBegins, kNoSuchKind };
  using Begun = std::function<void(const kube::Store<T>&)>;

  // Borrows cluster and informers. `begun` is called once, to connect handlers.
  LazyInformer(kube::Cluster& cluster, kube::Informers& informers, kube::Resource resource,
               kube::Scope scope, kube::Projection<T> projection, Begun begun = {})
      : cluster_(cluster),
        informers_(informers),
        resource_(std::move(resource)),
        scope_(std::move(scope)),
        projection_(std::move(projection)),
        begun_(std::move(begun)) {}

  // Starts the informer if necessary. An error when the server could not be reached.
  Result<State> ask(const kube::Call& call) {
    if (const auto store = find()) return store->has_synced() ? State::kReady : State::kBegins;
    // Listing an unknown kind returns "not found"; listing a kind without objects does not.
    auto listed = cluster_.list(
        resource_, {.ns = scope_.ns, .page_size = 1},
        [](std::string_view) -> Result<> {
          return Error{Code::kCancelled, "one is enough"};
        },
        call);
    if (listed.is(Code::kNotFound)) return State::kNoSuchKind;
    if (!listed && !listed.is(Code::kCancelled)) return std::move(listed).error();
    if (call.stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
    begin();
    return State::kBegins;
  }
  // Call it only after kReady.
  std::optional<kube::Store<T>> find() const {
    Lock lock(mutex_);
    return store_;
  }

 private:
  void begin() {
    Lock lock(mutex_);
    if (store_) return;
    store_ = informers_.of<T>(resource_, scope_, projection_);
    if (begun_) begun_(*store_);
  }

  kube::Cluster& cluster_;
  kube::Informers& informers_;
  const kube::Resource resource_;
  const kube::Scope scope_;
  const kube::Projection<T> projection_;
  const Begun begun_;

  mutable Mutex mutex_;
  std::optional<kube::Store<T>> store_ GUARDED_BY(mutex_){};
};

}  // namespace paddle::controllers
