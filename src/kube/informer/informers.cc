// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/informers.h"

#include <thread>
#include <vector>

#include "kube/informer/reflector.h"

namespace paddle::kube {

// The thread is the last member: it ends before what it uses.
struct Informers::Informer {
  ObjectCache cache;
  Reflector reflector;
  std::jthread thread{};

  Informer(Cluster& cluster, const Resource& resource, const Scope& scope, Decode decode,
           Metrics& metrics, const ReflectorPace& pace, const Clock& clock, Random& random)
      : cache(resource, std::move(decode), metrics),
        reflector(cluster, resource, scope, cache, pace, clock, random) {}
};

Informers::Informers(Cluster& cluster, Metrics& metrics, const ReflectorPace& pace,
                     const Clock& clock, Random& random)
    : cluster_(cluster), metrics_(metrics), pace_(pace), clock_(clock), random_(random) {}

Informers::~Informers() { stop(); }

ObjectCache& Informers::cache(const Identity& identity, Decode decode) {
  Lock lock(mutex_);
  auto& informer = informers_[identity];
  if (!informer) {
    const auto& [resource, scope, type, name] = identity;
    informer = std::make_unique<Informer>(cluster_, resource, scope, std::move(decode), metrics_,
                                          pace_, clock_, random_);
    if (started_ && !stopped_) run(*informer);
  }
  return informer->cache;
}

void Informers::run(Informer& informer) {
  informer.thread =
      std::jthread([&informer](std::stop_token stop) { informer.reflector.run(std::move(stop)); });
}

void Informers::start() {
  Lock lock(mutex_);
  if (started_ || stopped_) return;
  started_ = true;
  for (auto& [identity, informer] : informers_) run(*informer);
}

void Informers::stop() {
  std::vector<std::jthread> ending;
  {
    Lock lock(mutex_);
    stopped_ = true;
    for (auto& [identity, informer] : informers_) {
      informer->thread.request_stop();
      ending.push_back(std::move(informer->thread));
    }
  }
  // Joined without the lock: a handler may be requesting another informer.
}

bool Informers::wait_until_synced(std::stop_token stop) const {
  std::vector<const ObjectCache*> caches;
  {
    Lock lock(mutex_);
    for (const auto& [identity, informer] : informers_) caches.push_back(&informer->cache);
  }
  for (const auto* cache : caches) {
    if (!cache->wait_until_synced(stop)) return false;
  }
  return true;
}

}  // namespace paddle::kube
