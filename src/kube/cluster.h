// SPDX-License-Identifier: Apache-2.0
//
// The Kubernetes API as one interface with three implementations:
//
//   Client          the real one, over HTTPS                         (kube/client/client.h)
//   FakeCluster     in memory, same rules, for unit tests            (kube/fake/fake_cluster.h)
//   FailingCluster  wraps either and makes chosen calls fail         (kube/fake/failing_cluster.h)
//
// and decorators such as FencedCluster (kube/leader/fence.h), which refuses writes after the lease
// has expired. All of them pass one test suite (kube/fake/cluster_suite.h).
//
// Thread-safe. Every call has a deadline and can be stopped. No call retries by itself except when
// the server requests it (Retry-After) and the deadline allows it. Errors carry the server's own
// message, and a Code translated from the HTTP status:
//   400/422 kInvalid, 401 kUnauthorized, 403 kForbidden, 404 kNotFound, 409 with reason
//   AlreadyExists kAlreadyExists, other 409 and 412 kConflict, 410 and a requested version that the
//   server has not reached kExpired, 429 kThrottled, 5xx kUnavailable (500 kInternal unless the
//   server marks it as retryable), no response kUnavailable, timeout kDeadline.

#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"
#include "kube/options.h"
#include "kube/resource.h"

namespace paddle::kube {

struct Call {
  std::chrono::milliseconds timeout{30'000};
  std::stop_token stop{};
  // Called before each attempt, as late as the transport allows; false: the request is not sent
  // (kCancelled). Used by the leader's fence (kube/leader/fence.h).
  std::function<bool()> may_send{};
};

class Cluster {
 public:
  virtual ~Cluster() = default;

  virtual Result<Json> get(const Resource&, const ObjectKey&, const Call& = {}) = 0;

  // Feeds every object to `sink` and returns the resourceVersion of the list as a whole. Memory is
  // bounded by one object, not by the page. A page that expired half-way is kExpired.
  virtual Result<std::string> list(const Resource&, const ListOptions&, const ItemSink& sink,
                                   const Call& = {}) = 0;

  // Feeds changes after options.resource_version to `sink` until the server ends the watch (Done),
  // the version is too old (kExpired), the connection breaks (kUnavailable) or `stop` (kCancelled).
  // call.timeout bounds the time until the response begins, not the length of the watch.
  virtual Result<> watch(const Resource&, const WatchOptions&, const EventSink& sink,
                         const Call& = {}) = 0;

  // The object's metadata names its place. Returns what the server stored.
  virtual Result<Json> create(const Resource&, const Json& object, const Call& = {}) = 0;
  // sub: "" or "status" or "scale" (the object is then a Scale, its metadata names the target).
  // A metadata.resourceVersion in the object is a precondition.
  virtual Result<Json> update(const Resource&, const Json& object, const std::string& sub = {},
                              const Call& = {}) = 0;
  virtual Result<Json> patch(const Resource&, const ObjectKey&, const Patch&,
                             const std::string& sub = {}, const Call& = {}) = 0;
  // Done also when the deletion is accepted and finalizers still have to run. kNotFound when the
  // object does not exist.
  virtual Result<> remove(const Resource&, const ObjectKey&, const DeleteOptions& = {},
                          const Call& = {}) = 0;
  // GET of a subresource: "status" or "scale".
  virtual Result<Json> get_sub(const Resource&, const ObjectKey&, const std::string& sub,
                               const Call& = {}) = 0;
};

}  // namespace paddle::kube
