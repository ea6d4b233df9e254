// SPDX-License-Identifier: Apache-2.0
#include "test/walks/embedded_cluster.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "kube/wire/list_splitter.h"
#include "kube/wire/status.h"
#include "kube/wire/watch_splitter.h"
#include "net/values/url.h"

namespace paddle::walks {
namespace {

using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr size_t kMaxObject = size_t{8} << 20;
constexpr const char* kJson = "application/json";
constexpr const char* kMetadataList =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

std::unique_ptr<local::Storage> opened(const std::string& directory) {
  auto storage =
      local::Storage::open({.directory = directory, .keep_changes = 1'000'000, .durable = false});
  if (!storage) {
    ADD_FAILURE() << storage.error().message;
    std::abort();
  }
  return *std::move(storage);
}

// Removes a field wherever it is.
void erase_field(Json& value, const std::string& name) {
  if (value.is_object()) value.erase(name);
  if (!value.is_structured()) return;
  for (Json& inner : value) erase_field(inner, name);
}

// The same change as a merge patch: what it leaves out stays.
Json merging(const Json& operations) {
  Json body = Json::object();
  for (const Json& each : operations) {
    if (each.contains("value"))
      body[Json::json_pointer(each["path"].get<std::string>())] = each["value"];
  }
  return body;
}

const char* content_type_of(kube::PatchType type) {
  if (type == kube::PatchType::kMerge) return "application/merge-patch+json";
  if (type == kube::PatchType::kJson) return "application/json-patch+json";
  return "application/apply-patch+yaml";
}

ObjectKey key_in(const Json& object) {
  return {api::look_text(object, "/metadata/namespace"), api::look_text(object, "/metadata/name")};
}

}  // namespace

EmbeddedServer::EmbeddedServer(const std::string& directory, const Clock& clock, std::uint64_t seed,
                               Pace pace)
    : pace_(pace),
      random_(seed),
      storage_(opened(directory)),
      writer_(*storage_, clock, random_),
      api_(*storage_, writer_, system_clock(), {}) {
  EXPECT_TRUE(writer_.create_default_namespaces());
  storage_->listen([this](const std::set<std::string>& collections) {
    Lock lock(mutex_);
    for (auto& [what, watcher] : watchers_) {
      for (const std::string& collection : collections) {
        watcher.behind |= watcher.changes.is_interested_in(collection);
      }
    }
  });
}

EmbeddedServer::~EmbeddedServer() { storage_->listen({}); }

std::uint64_t EmbeddedServer::revision() {
  const auto now = storage_->revision();
  EXPECT_TRUE(now);
  return now ? *now : 0;
}

void EmbeddedServer::slow_down() const {
  if (pace_ == Pace::kUsual) return;
  (void)system_clock().sleep(std::chrono::microseconds{system_random().below(3'000)}, {});
}

void EmbeddedServer::expect_watch() {
  Lock lock(mutex_);
  ++expected_;
}

void EmbeddedServer::forget_watch() {
  Lock lock(mutex_);
  --expected_;
  changed_.notify_all();
}

void EmbeddedServer::forget_watches() {
  Lock lock(mutex_);
  expected_ = 0;
}

local::Reply EmbeddedServer::handle(const local::Request& request) {
  local::Reply reply = api_.handle(request);
  if (request.method == "GET") return reply;
  const bool generated = request.target.find("/secrets") != std::string::npos;
  for (const std::string& text : {request.method, request.target, generated ? "" : request.body,
                                  std::to_string(reply.status), generated ? "" : reply.body}) {
    digest_ = digest_ * 1'099'511'628'211 + std::hash<std::string>{}(text);
  }
  return reply;
}

std::vector<EmbeddedServer::Watcher*> EmbeddedServer::behind() {
  Lock lock(mutex_);
  while (watchers_.size() < expected_) changed_.wait(mutex_);
  std::vector<Watcher*> found;
  for (auto& [what, watcher] : watchers_) {
    if (watcher.behind && !watcher.end) found.push_back(&watcher);
    watcher.behind = false;
  }
  return found;
}

// Its thread waits in stream() meanwhile, and no other thread stops it.
void EmbeddedServer::deliver(Watcher& watcher) {
  for (;;) {
    const local::StreamChunk chunk = watcher.changes.next(BootTime{});
    Result<> taken = Done{};
    if (!chunk.text.empty()) taken = watcher.sink(chunk.text);
    if (!taken || chunk.ended) {
      Lock lock(mutex_);
      watcher.end = std::move(taken);
      changed_.notify_all();
      return;
    }
    if (chunk.text.empty()) return;
  }
}

void EmbeddedServer::deliver() {
  for (auto found = behind(); !found.empty(); found = behind()) {
    for (Watcher* watcher : found) deliver(*watcher);
  }
}

Result<> EmbeddedServer::stream(const std::string& what, local::Stream& changes, const Sink& sink,
                                const std::stop_token& stop) {
  Lock lock(mutex_);
  const auto self = watchers_.emplace(what, Watcher{changes, sink});
  changed_.notify_all();
  while (!self->second.end && !stop.stop_requested()) changed_.wait(mutex_, stop);
  Result<> end = self->second.end.value_or(Error{Code::kCancelled, "stopped"});
  watchers_.erase(self);
  changed_.notify_all();
  return end;
}

Result<Json> EmbeddedCluster::exchange(const local::Request& request) const {
  if (cut_) return Error{Code::kUnavailable, "this operator was killed"};
  const local::Reply reply = server_.handle(request);
  if (reply.status >= 300) return kube::error_of_answer(reply.status, reply.body);
  return api::parse_json(reply.body);
}

Result<Json> EmbeddedCluster::get(const kube::Resource& resource, const ObjectKey& key,
                                  const kube::Call& call) {
  return get_sub(resource, key, "", call);
}

Result<Json> EmbeddedCluster::get_sub(const kube::Resource& resource, const ObjectKey& key,
                                      const std::string& sub, const kube::Call&) {
  return exchange({.method = "GET", .target = path_of(resource, key, sub), .accept = kJson});
}

Result<std::string> EmbeddedCluster::list(const kube::Resource& resource,
                                          const kube::ListOptions& options,
                                          const kube::ItemSink& sink, const kube::Call&) {
  std::string path = path_of(resource, {options.ns, ""});
  net::add_query(path, "labelSelector", options.label_selector);
  net::add_query(path, "fieldSelector", options.field_selector);
  if (for_informers_) server_.slow_down();
  const local::Reply reply = server_.handle(
      {.method = "GET", .target = path, .accept = options.metadata_only ? kMetadataList : kJson});
  if (reply.status >= 300) return kube::error_of_answer(reply.status, reply.body);
  kube::ListSplitter splitter(kMaxObject);
  CHECK_DONE(splitter.feed(reply.body, sink));
  TRY(const kube::ListHead head, splitter.finish());
  if (for_informers_) {
    server_.expect_watch();
    server_.slow_down();
  }
  return head.resource_version;
}

Result<> EmbeddedCluster::watch(const kube::Resource& resource, const kube::WatchOptions& options,
                                const kube::EventSink& sink, const kube::Call& call) {
  std::string path = path_of(resource, {options.ns, ""}) + "?watch=true";
  net::add_query(path, "labelSelector", options.label_selector);
  net::add_query(path, "fieldSelector", options.field_selector);
  const std::string what = path;
  net::add_query(path, "resourceVersion", options.resource_version);
  const local::Reply reply = server_.handle(
      {.method = "GET", .target = path, .accept = options.metadata_only ? kMetadata : kJson});
  if (reply.status >= 300) return kube::error_of_answer(reply.status, reply.body);
  kube::WatchSplitter splitter(kMaxObject);
  const auto ended = server_.stream(
      what, *reply.stream, [&](std::string_view text) { return splitter.feed(text, sink); },
      call.stop);
  if (for_informers_) server_.forget_watch();
  return ended;
}

Result<Json> EmbeddedCluster::create(const kube::Resource& resource, const Json& object,
                                     const kube::Call&) {
  Json sent = object;
  if (defect_ == Defect::kIgnoresTemplates && resource == kinds::kPods) {
    sent["metadata"]["annotations"].erase("batch.paddlepaddle.org/template-hash");
  }
  return exchange({.method = "POST",
                   .target = path_of(resource, {key_in(object).ns, ""}),
                   .accept = kJson,
                   .content_type = kJson,
                   .body = api::dump_json(sent)});
}

Result<Json> EmbeddedCluster::update(const kube::Resource& resource, const Json& object,
                                     const std::string& sub, const kube::Call&) {
  Json sent = object;
  if (defect_ == Defect::kForgetsSuccess && sub == "status") {
    erase_field(sent["status"], "completedIndexes");
  }
  return exchange({.method = "PUT",
                   .target = path_of(resource, key_in(object), sub),
                   .accept = kJson,
                   .content_type = kJson,
                   .body = api::dump_json(sent)});
}

Result<Json> EmbeddedCluster::patch(const kube::Resource& resource, const ObjectKey& key,
                                    const kube::Patch& patch, const std::string& sub,
                                    const kube::Call&) {
  const bool merges = defect_ == Defect::kMergesTemplates && resource == kinds::kStatefulSets &&
                      patch.type == kube::PatchType::kJson;
  std::string path = path_of(resource, key, sub);
  if (patch.type == kube::PatchType::kApply) {
    net::add_query(path, "fieldManager", patch.field_manager);
    if (patch.force) net::add_query(path, "force", "true");
  }
  return exchange({.method = "PATCH",
                   .target = path,
                   .accept = kJson,
                   .content_type = content_type_of(merges ? kube::PatchType::kMerge : patch.type),
                   .body = api::dump_json(merges ? merging(patch.body) : patch.body)});
}

Result<> EmbeddedCluster::remove(const kube::Resource& resource, const ObjectKey& key,
                                 const kube::DeleteOptions& options, const kube::Call&) {
  Json body = {
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  const auto done = exchange({.method = "DELETE",
                              .target = path_of(resource, key),
                              .accept = kJson,
                              .content_type = kJson,
                              .body = api::dump_json(body)});
  if (!done) return done.error();
  return Done{};
}

std::vector<Json> all(kube::Cluster& cluster, const kube::Resource& resource) {
  std::vector<Json> objects;
  EXPECT_TRUE(cluster.list(resource, {}, [&](std::string_view text) -> Result<> {
    TRY(Json object, api::parse_json(text));
    objects.push_back(std::move(object));
    return Done{};
  }));
  return objects;
}

}  // namespace paddle::walks
