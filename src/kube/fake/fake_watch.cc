// SPDX-License-Identifier: Apache-2.0
// The reads of FakeCluster: lists in pages, and watches over the history.
#include <algorithm>
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>

#include "kube/fake/fake_cluster.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/selector.h"

namespace paddle::kube {
namespace {

Error expired(std::uint64_t requested, std::uint64_t compacted) {
  return {Code::kExpired, "too old resource version: " + std::to_string(requested) + " (" +
                              std::to_string(compacted) + ")"};
}

Result<std::uint64_t> parse_version(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) {
    return Error{Code::kInvalid, "resourceVersion: Invalid value: \"" + text + "\""};
  }
  return value;
}

bool in_namespace(const Json& object, const std::string& ns) {
  return ns.empty() || meta_text(object, "namespace") == ns;
}

std::string text_of(const Json& object, bool metadata_only) {
  if (!metadata_only) return api::dump_json(object);
  return api::dump_json({{"apiVersion", "meta.k8s.io/v1"},
                         {"kind", "PartialObjectMetadata"},
                         {"metadata", object.at("metadata")}});
}

}  // namespace

Result<std::string> FakeCluster::list(const Resource& resource, const ListOptions& options,
                                      const ItemSink& sink, const Call& call) {
  CHECK_DONE(begin({Verb::kList, resource, {.ns = options.ns}}, call));
  TRY(const Selector selector, Selector::parse(options.label_selector, options.field_selector));
  std::vector<StoredObject> found;
  std::uint64_t version = 0;
  {
    Lock lock(mutex_);
    const bool from_cache = cache_ && !options.resource_version.empty();
    const FakeStorage& source = from_cache ? *cache_ : storage_;
    version = source.version();
    if (!options.resource_version.empty()) {
      TRY(const std::uint64_t wanted, parse_version(options.resource_version));
      if (wanted > version) return Error{Code::kExpired, "Too large resource version"};
    }
    for (const auto& [key, record] : source.records(resource)) {
      if (in_namespace(*record.object, options.ns) && selector.matches(*record.object)) {
        found.push_back(record.object);
      }
    }
  }
  const size_t page = options.page_size > 0 ? static_cast<size_t>(options.page_size) : found.size();
  for (size_t i = 0; i < found.size(); ++i) {
    if (call.stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
    if (i > 0 && i % page == 0) {  // the token of the next page has the first version
      Lock lock(mutex_);
      if (storage_.compacted() > version) return expired(version, storage_.compacted());
    }
    CHECK_DONE(sink(text_of(*found[i], options.metadata_only)));
  }
  return std::to_string(version);
}

// One open watch: its position in the history and what it delivers next.
struct FakeCluster::Watcher {
  struct Pending {
    EventType type;
    StoredObject object;
  };
  std::string collection{};
  Resource resource{};
  WatchOptions options{};
  Selector selector{};
  std::stop_token stop{};
  BootTime deadline{};
  std::uint64_t cursor = 0;
  std::uint64_t bookmarks = 0;
  std::uint64_t ends = 0;
  std::uint64_t cuts = 0;
  std::vector<Pending> pending{};

  bool sees(const StoredObject& object) const {
    return object && in_namespace(*object, options.ns) && selector.matches(*object);
  }

  // An object that comes into or leaves the selection is an addition or a deletion.
  void take(const HistoryEntry& entry) {
    const bool was = sees(entry.before);
    const bool is = entry.type != EventType::kDeleted && sees(entry.object);
    if (is) {
      pending.push_back({was ? EventType::kModified : EventType::kAdded, entry.object});
    } else if (was) {
      Json last = *entry.before;
      last["metadata"]["resourceVersion"] = std::to_string(entry.version);
      pending.push_back({EventType::kDeleted, std::make_shared<const Json>(std::move(last))});
    }
  }

  void add_bookmark(std::uint64_t version) {
    Json mark = {{"apiVersion", resource.api_version()},
                 {"kind", resource.kind},
                 {"metadata", {{"resourceVersion", std::to_string(version)}}}};
    pending.push_back({EventType::kBookmark, std::make_shared<const Json>(std::move(mark))});
  }
};

Result<> FakeCluster::watch(const Resource& resource, const WatchOptions& options,
                            const EventSink& sink, const Call& call) {
  CHECK_DONE(begin({Verb::kWatch, resource, {.ns = options.ns}}, call));
  Watcher watcher{.collection = FakeStorage::collection_of(resource),
                  .resource = resource,
                  .options = options,
                  .stop = call.stop,
                  .deadline = system_clock().boot() + options.timeout};
  TRY(watcher.selector, Selector::parse(options.label_selector, options.field_selector));
  const bool from_now = options.resource_version.empty() || options.resource_version == "0";
  if (!from_now) {
    TRY(watcher.cursor, parse_version(options.resource_version));
  }
  {
    Lock lock(mutex_);
    watcher.bookmarks = bookmarks_;
    watcher.ends = ends_;
    watcher.cuts = cuts_;
    if (from_now) {
      watcher.cursor = storage_.version();
      for (const auto& [key, record] : storage_.records(resource)) {
        if (watcher.sees(record.object)) {
          watcher.pending.push_back({EventType::kAdded, record.object});
        }
      }
    }
    ++open_watches_;
  }
  bool ended = false;
  Result<> outcome = Done{};
  while (outcome && !ended) {
    for (const auto& event : watcher.pending) {
      const std::string text = text_of(*event.object, options.metadata_only);
      outcome = sink({.type = event.type, .object = text});
      if (!outcome) break;
    }
    watcher.pending.clear();
    if (outcome) outcome = next_events(watcher, ended);
  }
  Lock lock(mutex_);
  --open_watches_;
  changed_.notify_all();
  return outcome;
}

// Waits until there is an event to deliver or the watch ends.
Result<> FakeCluster::next_events(Watcher& watcher, bool& ended) {
  Lock lock(mutex_);
  while (true) {
    TRY(const bool ready, gather(watcher, ended));
    if (ready) return Done{};
    const auto left = watcher.deadline - system_clock().boot();
    changed_.wait_for(mutex_, watcher.stop, std::max(left, BootClock::duration::zero()));
  }
}

Result<bool> FakeCluster::gather(Watcher& watcher, bool& ended) {
  if (watcher.stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
  if (watcher.cuts != cuts_) return Error{Code::kUnavailable, "the connection was cut"};
  if (watcher.cursor < storage_.compacted()) return expired(watcher.cursor, storage_.compacted());
  for (auto entry = storage_.after(watcher.cursor); entry != storage_.end(); ++entry) {
    if (entry->collection == watcher.collection) watcher.take(*entry);
  }
  watcher.cursor = std::max(watcher.cursor, storage_.version());
  if (watcher.bookmarks != bookmarks_) {
    watcher.bookmarks = bookmarks_;
    if (watcher.options.bookmarks) watcher.add_bookmark(watcher.cursor);
  }
  if (!watcher.pending.empty()) return true;
  ended = watcher.ends != ends_ || system_clock().boot() >= watcher.deadline;
  return ended;
}

void FakeCluster::compact() {
  Lock lock(mutex_);
  storage_.compact();
  changed_.notify_all();
}

void FakeCluster::stop_cache() {
  Lock lock(mutex_);
  cache_ = storage_;
}

void FakeCluster::resume_cache() {
  Lock lock(mutex_);
  cache_.reset();
}

void FakeCluster::send_bookmarks() {
  Lock lock(mutex_);
  ++bookmarks_;
  changed_.notify_all();
}

void FakeCluster::end_watches() {
  Lock lock(mutex_);
  ++ends_;
  changed_.notify_all();
}

void FakeCluster::cut_watches() {
  Lock lock(mutex_);
  ++cuts_;
  changed_.notify_all();
}

size_t FakeCluster::open_watches() const {
  Lock lock(mutex_);
  return open_watches_;
}

}  // namespace paddle::kube
