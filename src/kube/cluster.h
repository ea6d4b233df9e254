// SPDX-License-Identifier: Apache-2.0
//
// The Kubernetes API as the rest of the program sees it: one interface, three bodies.
//
//   Client          the real one, over HTTPS                         (kube/client/client.h)
//   FakeCluster     in memory, same rules, for unit tests            (kube/fake_cluster.h)
//   FailingCluster  wraps either and makes chosen calls fail         (kube/failing_cluster.h)
//
// and decorators such as FencedCluster (kube/fence.h), which refuses writes once the lease has
// passed. All of them are held to one suite (kube/cluster_suite.h).
//
// Thread-safe. Every call has a deadline and can be stopped; none retries by itself except where
// the server asked for it (Retry-After) within the deadline. Errors carry the server's own message,
// and a Code translated from the HTTP status:
//   400/422 kInvalid, 401 kUnauthorized, 403 kForbidden, 404 kNotFound, 409 with reason
//   AlreadyExists kAlreadyExists, other 409 and 412 kConflict, 410 kExpired, 429 kThrottled, 5xx
//   kUnavailable (500 kInternal unless the server says it is retryable), no answer kUnavailable,
//   time out kDeadline.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>  // Patch holds one

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"
#include "kube/resource.h"

namespace paddle::kube {

using api::Json;
using api::ObjectKey;

struct Call {
  std::chrono::milliseconds timeout{30'000};
  std::stop_token stop{};
  // Asked before each attempt, as late as the transport allows: false means that the request must
  // not be sent (kCancelled). The leader's fence uses it (kube/leader/fence.h).
  std::function<bool()> may_send{};
};

struct ListOptions {
  std::string ns{};  // empty = all namespaces
  std::string label_selector{};
  std::string field_selector{};
  int page_size = 500;  // the list is read in pages of this size; 0 = one answer
  // Passed on as resourceVersion with resourceVersionMatch=NotOlderThan; empty = most recent.
  std::string resource_version{};
  // Objects come without all that is not metadata: what a Secret holds never travels.
  bool metadata_only = false;
};

struct WatchOptions {
  std::string ns{};
  std::string label_selector{};
  std::string field_selector{};
  std::string resource_version{};
  bool bookmarks = true;
  // The server ends the watch after about this long; a normal end, not an error.
  std::chrono::seconds timeout{300};
  bool metadata_only = false;  // as in ListOptions
};

enum class EventType { kAdded, kModified, kDeleted, kBookmark };

// One change. `object` is the object's JSON text, valid only during the call.
struct WatchEvent {
  EventType type = EventType::kAdded;
  std::string_view object{};
};

// Called for each element in turn, on the caller's thread; an error ends the call with that error.
using ItemSink = std::function<Result<>(std::string_view object)>;
using EventSink = std::function<Result<>(const WatchEvent&)>;

enum class PatchType { kMerge, kJson, kApply };  // RFC 7386, RFC 6902, server-side apply

struct Patch {
  PatchType type = PatchType::kMerge;
  Json body;
  std::string field_manager{};  // required for kApply
  bool force = false;           // kApply only: take over fields that others manage
  bool strict = false;          // unknown and repeated fields are refused, not passed over
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid{};               // precondition when not empty
  std::string resource_version{};  // precondition when not empty
  Propagation propagation = Propagation::kBackground;
  std::optional<int> grace_seconds{};
};

class Cluster {
 public:
  virtual ~Cluster() = default;

  virtual Result<Json> get(const Resource&, const ObjectKey&, const Call& = {}) = 0;

  // Feeds every object to `sink` and returns the resourceVersion of the list as a whole. Memory is
  // bounded by one object, not by the page. A page that expired half-way through is kExpired.
  virtual Result<std::string> list(const Resource&, const ListOptions&, const ItemSink& sink,
                                   const Call& = {}) = 0;

  // Feeds changes after options.resource_version to `sink` until the server ends the watch (Done),
  // the version is too old (kExpired), the connection breaks (kUnavailable) or `stop` (kCancelled).
  // call.timeout bounds the connection's establishment, not its life.
  virtual Result<> watch(const Resource&, const WatchOptions&, const EventSink& sink,
                         const Call& = {}) = 0;

  // The object's own metadata says where it goes. Returns what the server stored.
  virtual Result<Json> create(const Resource&, const Json& object, const Call& = {}) = 0;
  // sub: "" or "status" or "scale" (the object is then a Scale, its metadata names the target).
  // A metadata.resourceVersion in the object is a precondition.
  virtual Result<Json> update(const Resource&, const Json& object, const std::string& sub = {},
                              const Call& = {}) = 0;
  virtual Result<Json> patch(const Resource&, const ObjectKey&, const Patch&,
                             const std::string& sub = {}, const Call& = {}) = 0;
  // Done also covers "accepted, finalizers still to run". kNotFound when it is not there.
  virtual Result<> remove(const Resource&, const ObjectKey&, const DeleteOptions& = {},
                          const Call& = {}) = 0;
  // GET of a subresource: "status" or "scale".
  virtual Result<Json> get_sub(const Resource&, const ObjectKey&, const std::string& sub,
                               const Call& = {}) = 0;
};

}  // namespace paddle::kube
