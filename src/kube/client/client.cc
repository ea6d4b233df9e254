// SPDX-License-Identifier: Apache-2.0
#include "kube/client/client.h"

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "kube/client/transport.h"
#include "kube/wire/list_splitter.h"
#include "kube/wire/watch_splitter.h"
#include "net/values/url.h"

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;

constexpr const char* kJsonType = "application/json";
constexpr const char* kMetadataList =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
constexpr const char* kMetadataEvents =
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

TransportOptions transport_options(const ClientOptions& options) {
  return {.user_agent = options.user_agent.empty() ? std::string("paddle-operator/") + kVersion
                                                   : options.user_agent,
          .max_body = 2 * options.max_object,
          .metrics = options.metrics,
          .clock = options.clock,
          .random = options.random};
}

std::string doing(const ApiRequest& request, const ObjectKey& key) {
  std::string text = request.verb + " " + request.resource;
  if (!key.name.empty() || !key.ns.empty()) text += " " + to_string(key);
  return text;
}

// The key in the metadata of an object. A write without a name would address the collection.
Result<ObjectKey> key_of(const Resource& resource, const Json& object, bool may_generate) {
  const auto text = [&](const char* field) -> std::string {
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || !metadata->is_object()) return {};
    const auto found = metadata->find(field);
    return found != metadata->end() && found->is_string() ? found->get<std::string>()
                                                          : std::string{};
  };
  if (!object.is_object()) return Error{Code::kInvalid, resource.plural + ": not an object"};
  ObjectKey key{.ns = resource.namespaced ? text("namespace") : "", .name = text("name")};
  const bool named = !key.name.empty() || (may_generate && !text("generateName").empty());
  if (!named) return Error{Code::kInvalid, "the object has no metadata.name"};
  if (resource.namespaced && key.ns.empty()) {
    return Error{Code::kInvalid, "the object has no metadata.namespace"};
  }
  return key;
}

// Checks the key of one object: with an empty part the path would address something else.
Result<> check_key(const Resource& resource, const ObjectKey& key) {
  if (key.name.empty()) return Error{Code::kInvalid, resource.plural + ": the name is empty"};
  if (resource.namespaced && key.ns.empty()) {
    return Error{Code::kInvalid, resource.plural + " " + key.name + ": the namespace is empty"};
  }
  return Done{};
}

std::string list_path(const Resource& resource, const ListOptions& options,
                      const std::string& next) {
  std::string path = path_of(resource, {options.ns, ""});
  net::add_query(path, "labelSelector", options.label_selector);
  net::add_query(path, "fieldSelector", options.field_selector);
  if (options.page_size > 0) net::add_query(path, "limit", std::to_string(options.page_size));
  if (!next.empty()) {
    net::add_query(path, "continue", next);  // carries the version itself
  } else if (!options.resource_version.empty()) {
    net::add_query(path, "resourceVersion", options.resource_version);
    net::add_query(path, "resourceVersionMatch", "NotOlderThan");
  }
  return path;
}

std::string watch_path(const Resource& resource, const WatchOptions& options) {
  std::string path = path_of(resource, {options.ns, ""}) + "?watch=true";
  net::add_query(path, "labelSelector", options.label_selector);
  net::add_query(path, "fieldSelector", options.field_selector);
  net::add_query(path, "resourceVersion", options.resource_version);
  if (options.bookmarks) net::add_query(path, "allowWatchBookmarks", "true");
  net::add_query(path, "timeoutSeconds",
                 std::to_string(std::max<std::int64_t>(options.timeout.count(), 1)));
  return path;
}

const char* content_type_of(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

Json body_of(const DeleteOptions& options) {
  Json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  switch (options.propagation) {
    case Propagation::kBackground:
      body["propagationPolicy"] = "Background";
      break;
    case Propagation::kForeground:
      body["propagationPolicy"] = "Foreground";
      break;
    case Propagation::kOrphan:
      body["propagationPolicy"] = "Orphan";
      break;
  }
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  return body;
}

}  // namespace

Client::Client(Config config, ClientOptions options)
    : options_(std::move(options)),
      transport_(std::make_unique<Transport>(std::move(config), transport_options(options_))) {}

Client::~Client() = default;

Result<Json> Client::exchange(const ApiRequest& request, const Call& call) {
  ApiRequest gated = request;
  gated.may_send = call.may_send;
  TRY(const net::HttpReply reply, transport_->send(gated, call.timeout, call.stop));
  auto object = api::parse_json(reply.body);
  if (!object) {
    return Error{Code::kInternal,
                 "the server's response is not an object: " + object.error().message};
  }
  return object;
}

Result<Json> Client::get(const Resource& resource, const ObjectKey& key, const Call& call) {
  return get_sub(resource, key, "", call);
}

Result<Json> Client::get_sub(const Resource& resource, const ObjectKey& key, const std::string& sub,
                             const Call& call) {
  CHECK_DONE(check_key(resource, key));
  const ApiRequest request{
      .verb = "get", .resource = resource.plural, .path = path_of(resource, key, sub)};
  auto object = exchange(request, call);
  if (!object) return std::move(object).error().in(doing(request, key));
  return object;
}

Result<std::string> Client::list(const Resource& resource, const ListOptions& options,
                                 const ItemSink& sink, const Call& call) {
  const Clock& clock = *options_.clock;
  const BootTime deadline = clock.boot() + call.timeout;
  std::string next;
  for (;;) {
    const ApiRequest request{.verb = "list",
                             .resource = resource.plural,
                             .path = list_path(resource, options, next),
                             .accept = options.metadata_only ? kMetadataList : kJsonType};
    bool from_sink = false;
    const ItemSink feed = [&](std::string_view item) -> Result<> {
      auto done = sink(item);
      from_sink = !done;
      return done;
    };
    ListSplitter splitter(options_.max_object);
    const auto page = [&]() -> Result<ListHead> {
      const auto left = std::chrono::ceil<milliseconds>(deadline - clock.boot());
      CHECK_DONE(transport_->stream(
          request, [&](std::string_view bytes) { return splitter.feed(bytes, feed); }, left,
          call.stop));
      return splitter.finish();
    };
    auto head = page();
    if (!head && from_sink) return std::move(head).error();
    if (!head) return std::move(head).error().in(doing(request, {options.ns, ""}));
    if (head->continue_token.empty()) return head->resource_version;
    if (head->continue_token == next) {
      return Error{Code::kInternal, "list " + resource.plural + ": the server repeats a page"};
    }
    next = head->continue_token;
  }
}

Result<> Client::watch(const Resource& resource, const WatchOptions& options, const EventSink& sink,
                       const Call& call) {
  // The server ends a watch by itself. One that lasts longer than that is considered broken.
  constexpr std::chrono::seconds kGrace{30};
  const ApiRequest request{.verb = "watch",
                           .resource = resource.plural,
                           .path = watch_path(resource, options),
                           .accept = options.metadata_only ? kMetadataEvents : kJsonType,
                           .life = std::chrono::seconds{options.timeout} + call.timeout + kGrace};
  bool from_sink = false;
  const EventSink feed = [&](const WatchEvent& event) -> Result<> {
    auto done = sink(event);
    from_sink = !done;
    return done;
  };
  WatchSplitter splitter(options_.max_object);
  bool begun = false;
  const auto run = [&]() -> Result<> {
    CHECK_DONE(transport_->stream(
        request,
        [&](std::string_view bytes) {
          begun = true;
          return splitter.feed(bytes, feed);
        },
        call.timeout, call.stop));
    return splitter.finish();
  };
  auto done = run();
  if (done || from_sink) return done;
  if (begun && done.is(Code::kDeadline)) {
    return Error{Code::kUnavailable,
                 "watch " + resource.plural + ": the server stopped responding"};
  }
  return std::move(done).error().in(doing(request, {options.ns, ""}));
}

Result<Json> Client::create(const Resource& resource, const Json& object, const Call& call) {
  TRY(const ObjectKey key, key_of(resource, object, true));
  if (object.at("metadata").contains("resourceVersion")) {  // the server would answer 500
    return Error{Code::kInvalid, "create " + resource.plural + " " + to_string(key) +
                                     ": the object has a resourceVersion"};
  }
  ApiRequest request{.verb = "create",
                     .resource = resource.plural,
                     .method = "POST",
                     .path = path_of(resource, {key.ns, ""}),
                     .content_type = kJsonType,
                     .body = api::dump_json(object),
                     .idempotent = false};
  net::add_query(request.path, "fieldManager", options_.field_manager);
  auto stored = exchange(request, call);
  if (!stored) return std::move(stored).error().in(doing(request, key));
  return stored;
}

Result<Json> Client::update(const Resource& resource, const Json& object, const std::string& sub,
                            const Call& call) {
  TRY(const ObjectKey key, key_of(resource, object, false));
  ApiRequest request{.verb = "update",
                     .resource = resource.plural,
                     .method = "PUT",
                     .path = path_of(resource, key, sub),
                     .content_type = kJsonType,
                     .body = api::dump_json(object)};
  net::add_query(request.path, "fieldManager", options_.field_manager);
  auto stored = exchange(request, call);
  if (!stored) return std::move(stored).error().in(doing(request, key));
  return stored;
}

Result<Json> Client::patch(const Resource& resource, const ObjectKey& key, const Patch& patch,
                           const std::string& sub, const Call& call) {
  CHECK_DONE(check_key(resource, key));
  const bool apply = patch.type == PatchType::kApply;
  ApiRequest request{.verb = apply ? "apply" : "patch",
                     .resource = resource.plural,
                     .method = "PATCH",
                     .path = path_of(resource, key, sub),
                     .content_type = content_type_of(patch.type),
                     .body = api::dump_json(patch.body),
                     .idempotent = patch.type != PatchType::kJson};
  if (apply && patch.field_manager.empty()) {
    return Error{Code::kInvalid, doing(request, key) + ": server-side apply needs a field manager"};
  }
  net::add_query(request.path, "fieldManager",
                 patch.field_manager.empty() ? options_.field_manager : patch.field_manager);
  if (apply && patch.force) net::add_query(request.path, "force", "true");
  if (patch.strict) net::add_query(request.path, "fieldValidation", "Strict");
  auto stored = exchange(request, call);
  if (!stored) return std::move(stored).error().in(doing(request, key));
  return stored;
}

Result<> Client::remove(const Resource& resource, const ObjectKey& key,
                        const DeleteOptions& options, const Call& call) {
  CHECK_DONE(check_key(resource, key));
  const ApiRequest request{.verb = "delete",
                           .resource = resource.plural,
                           .method = "DELETE",
                           .path = path_of(resource, key),
                           .content_type = kJsonType,
                           .body = api::dump_json(body_of(options)),
                           .may_send = call.may_send};
  auto reply = transport_->send(request, call.timeout, call.stop);
  if (!reply) return std::move(reply).error().in(doing(request, key));
  return Done{};
}

Result<std::string> Client::get_raw(const std::string& path, const Call& call) {
  const ApiRequest request{.verb = "get", .resource = "raw", .path = path};
  auto reply = transport_->send(request, call.timeout, call.stop);
  if (!reply) return std::move(reply).error().in("get " + path);
  return std::move(reply->body);
}

Result<> Client::stream_raw(const std::string& path, const std::string& accept,
                            const net::BodySink& sink, const Call& call) {
  constexpr std::chrono::hours kAsLongAsItTakes{24 * 365};
  const ApiRequest request{.verb = "get",
                           .resource = "raw",
                           .path = path,
                           .accept = accept,
                           .life = kAsLongAsItTakes,
                           .may_send = call.may_send};
  bool from_sink = false;
  const net::BodySink feed = [&](std::string_view piece) -> Result<> {
    auto done = sink(piece);
    from_sink = !done;
    return done;
  };
  auto reply = transport_->stream(request, feed, call.timeout, call.stop);
  if (reply) return Done{};
  if (from_sink) return std::move(reply).error();
  return std::move(reply).error().in("get " + path);
}

}  // namespace paddle::kube
