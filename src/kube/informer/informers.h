// SPDX-License-Identifier: Apache-2.0
//
// All informers of a program. Two calls for the same resource, scope and projection return the same
// informer: one list, one watch and one copy in memory for any number of controllers.
//
// Thread-safe. Informers that are created after start() begin immediately; stop() ends and joins
// their threads and is final. Stores stay readable after stop(), until this object is destroyed.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <typeindex>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "kube/informer/store.h"

namespace paddle::kube {

class Informers {
 public:
  Informers(Cluster& cluster, Metrics& metrics, const ReflectorPace& pace = {},
            const Clock& clock = system_clock(), Random& random = system_random());
  ~Informers();

  template <typename T>
  Store<T> of(const Resource& resource, const Scope& scope, const Projection<T>& projection) {
    return Store<T>(cache({resource, scope, typeid(T), projection.name}, erased(projection)));
  }

  void start();
  void stop();
  // Waits until every informer so far has its first list; false when `stop` came first.
  bool wait_until_synced(std::stop_token stop) const;

 private:
  struct Informer;
  using Identity = std::tuple<Resource, Scope, std::type_index, std::string>;
  ObjectCache& cache(const Identity& identity, Decode decode);
  void run(Informer& informer) REQUIRES(mutex_);

  Cluster& cluster_;
  Metrics& metrics_;
  const ReflectorPace pace_;
  const Clock& clock_;
  Random& random_;

  mutable Mutex mutex_;
  bool started_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::map<Identity, std::unique_ptr<Informer>> informers_ GUARDED_BY(mutex_);
};

}  // namespace paddle::kube
