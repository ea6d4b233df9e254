// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/watch.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"
#include "local/api_server/reader.h"

namespace paddle::local {
namespace {

using api::Json;
using kube::EventType;

constexpr int kEventsAtOnce = 64;

struct WatchRequest {
  std::string ns{};
  kube::Selector selector{};
  bool selects = false;
  Representation representation{};
  std::uint64_t cursor = 0;
  bool from_start = false;   // sends existing objects first
  bool marks_start = false;  // and then a bookmark
  bool bookmarks = false;
  std::chrono::seconds timeout{};
};

class Watch final : public Stream {
 public:
  Watch(Storage& storage, const Clock& clock, const Kind& kind, WatchRequest request,
        WatchOptions options)
      : storage_(storage),
        clock_(clock),
        kind_(kind),
        collection_(collection_of(kind.resource)),
        request_(std::move(request)),
        options_(options),
        end_(clock.boot() + request_.timeout),
        next_bookmark_(clock.boot() + options.bookmark_every) {}

  StreamChunk next(BootTime now) override {
    now_ = now;
    StreamChunk chunk;
    if (request_.from_start) {
      give_present(chunk);
      if (chunk.ended || !chunk.text.empty()) return chunk;
    }
    give_changes(chunk);
    if (chunk.ended || !chunk.text.empty()) return chunk;
    if (request_.bookmarks && now >= next_bookmark_) {
      next_bookmark_ = now + options_.bookmark_every;
      add_bookmark(chunk, false);
    }
    chunk.ended = now >= end_;
    return chunk;
  }

  std::chrono::milliseconds poll_interval() const override {
    const BootTime until = request_.bookmarks ? std::min(end_, next_bookmark_) : end_;
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - now_),
                    std::chrono::milliseconds{1});
  }

  bool is_interested_in(const std::string& collection) const override {
    return collection == collection_;
  }

 private:
  void give_present(StreamChunk& chunk) {
    request_.from_start = false;
    auto seen = storage_.list({.collection = collection_, .ns = request_.ns},
                              [&](const api::ObjectKey&, std::string_view body) {
                                if (is_selected(body)) add(chunk, "ADDED", body);
                                return true;
                              });
    if (!seen) return give_failure(chunk, seen.error());
    request_.cursor = *seen;
    if (request_.marks_start) add_bookmark(chunk, true);
  }

  void give_changes(StreamChunk& chunk) {
    do {
      auto found = storage_.changes(collection_, request_.ns, request_.cursor, kEventsAtOnce);
      if (!found) return give_failure(chunk, found.error());
      for (const Change& change : found->list) take(chunk, change);
      const bool all = static_cast<int>(found->list.size()) < kEventsAtOnce;
      request_.cursor = found->up_to;
      if (all) return;
    } while (chunk.text.empty());  // skip batches of changes that the selector does not match
  }

  // An object that enters or leaves the selection is sent as ADDED or DELETED.
  void take(StreamChunk& chunk, const Change& change) {
    const bool was = !change.before.empty() && is_selected(change.before);
    const bool is = change.type != EventType::kDeleted && is_selected(change.body);
    if (is) {
      add(chunk, was ? "MODIFIED" : "ADDED", change.body);
    } else if (was && change.type == EventType::kDeleted) {
      add(chunk, "DELETED", change.body);
    } else if (was) {
      auto last = api::parse_json(change.before);
      if (!last) return;
      (*last)["metadata"]["resourceVersion"] = std::to_string(change.revision);
      add(chunk, "DELETED", api::dump_json(*last));
    }
  }

  bool is_selected(std::string_view body) const {
    if (!request_.selects) return true;
    const auto object = api::parse_json(body);
    return object && request_.selector.matches(*object);
  }

  void add(StreamChunk& chunk, const char* type, std::string_view body) {
    chunk.text += std::string(R"({"type":")") + type + R"(","object":)";
    chunk.text += represent_text(kind_, body, request_.representation, clock_.wall());
    chunk.text += "}\n";
  }

  void add_bookmark(StreamChunk& chunk, bool initial) {
    Json meta{{"resourceVersion", std::to_string(request_.cursor)}, {"creationTimestamp", nullptr}};
    if (initial) meta["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    const Json object{{"kind", kind_.resource.kind},
                      {"apiVersion", kind_.resource.api_version()},
                      {"metadata", std::move(meta)}};
    chunk.text += api::dump_json({{"type", "BOOKMARK"}, {"object", object}}) + "\n";
  }

  static void give_failure(StreamChunk& chunk, const Error& error) {
    const Json status = status_of(http_status(error.code), reason_of(error.code), error.message);
    chunk.text += api::dump_json({{"type", "ERROR"}, {"object", status}}) + "\n";
    chunk.ended = true;
  }

  Storage& storage_;
  const Clock& clock_;
  const Kind& kind_;
  const std::string collection_;
  WatchRequest request_;
  const WatchOptions options_;
  const BootTime end_;
  BootTime next_bookmark_;
  BootTime now_{};
};

}  // namespace

Reply start_watch(Storage& storage, const Clock& clock, const Kind& kind, const std::string& ns,
                  const Target& target, const Representation& representation,
                  const WatchOptions& options) {
  const auto selector = kube::Selector::parse(target["labelSelector"], target["fieldSelector"]);
  if (!selector) return bad_request(selector.error().message);
  const auto revision = parse_revision(target["resourceVersion"]);
  const auto timeout = parse_revision(target["timeoutSeconds"]);
  if (!revision) {
    return bad_request("resourceVersion: Invalid value: \"" + target["resourceVersion"] + "\"");
  }
  if (!timeout) {
    return bad_request("timeoutSeconds: Invalid value: \"" + target["timeoutSeconds"] + "\"");
  }
  WatchRequest request{
      .ns = ns,
      .selector = *selector,
      .selects = !target["labelSelector"].empty() || !target["fieldSelector"].empty(),
      .representation = representation,
      .cursor = *revision,
      .bookmarks = target.is_true("allowWatchBookmarks")};
  const bool wants_present = target.is_true("sendInitialEvents");
  request.from_start =
      wants_present || (*revision == 0 && !target.query.contains("sendInitialEvents"));
  request.marks_start = wants_present && request.bookmarks;
  if (!request.from_start && *revision == 0) {
    auto latest = storage.revision();
    if (!latest) return failure(latest.error());
    request.cursor = *latest;
  }
  const auto longest = static_cast<std::uint64_t>(options.longest.count());
  request.timeout =
      *timeout == 0 ? options.longest : std::chrono::seconds(std::min(*timeout, longest));
  return {.stream = std::make_shared<Watch>(storage, clock, kind, std::move(request), options)};
}

}  // namespace paddle::local
