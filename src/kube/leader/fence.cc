// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/fence.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paddle::kube {

using std::chrono::milliseconds;

FencedCluster::FencedCluster(Cluster& cluster, const Fence& fence, const Clock& clock,
                             const std::string& name, Metrics& metrics)
    : cluster_(cluster),
      fence_(fence),
      clock_(clock),
      refused_(metrics.counter("paddle_leader_refused_writes_total",
                               "Writes not sent because the lease had expired.",
                               {{"lease", name}})) {}

template <typename T, typename Write>
Result<T> FencedCluster::guarded(const Call& call, const Write& write) {
  const auto refuse = [this] {
    refused_.Increment();
    return Error{Code::kCancelled, "lease expired; not the leader any more"};
  };
  const auto left = std::chrono::floor<milliseconds>(fence_.remaining(clock_.boot()));
  if (left <= milliseconds{0}) return refuse();

  Call fenced = call;
  fenced.timeout = std::min(call.timeout, left);
  fenced.may_send = [this, &call] {
    return fence_.open(clock_.boot()) && (!call.may_send || call.may_send());
  };
  Result<T> written = write(fenced);
  if (written.is(Code::kCancelled) && !fence_.open(clock_.boot())) return refuse();
  return written;
}

Result<Json> FencedCluster::create(const Resource& resource, const Json& object, const Call& call) {
  return guarded<Json>(call, [&](const Call& c) { return cluster_.create(resource, object, c); });
}

Result<Json> FencedCluster::update(const Resource& resource, const Json& object,
                                   const std::string& sub, const Call& call) {
  return guarded<Json>(call,
                       [&](const Call& c) { return cluster_.update(resource, object, sub, c); });
}

Result<Json> FencedCluster::patch(const Resource& resource, const ObjectKey& key,
                                  const Patch& patch, const std::string& sub, const Call& call) {
  return guarded<Json>(call,
                       [&](const Call& c) { return cluster_.patch(resource, key, patch, sub, c); });
}

Result<> FencedCluster::remove(const Resource& resource, const ObjectKey& key,
                               const DeleteOptions& options, const Call& call) {
  return guarded<Done>(call,
                       [&](const Call& c) { return cluster_.remove(resource, key, options, c); });
}

Result<Json> FencedCluster::get(const Resource& resource, const ObjectKey& key, const Call& call) {
  return cluster_.get(resource, key, call);
}

Result<std::string> FencedCluster::list(const Resource& resource, const ListOptions& options,
                                        const ItemSink& sink, const Call& call) {
  return cluster_.list(resource, options, sink, call);
}

Result<> FencedCluster::watch(const Resource& resource, const WatchOptions& options,
                              const EventSink& sink, const Call& call) {
  return cluster_.watch(resource, options, sink, call);
}

Result<Json> FencedCluster::get_sub(const Resource& resource, const ObjectKey& key,
                                    const std::string& sub, const Call& call) {
  return cluster_.get_sub(resource, key, sub, call);
}

}  // namespace paddle::kube
