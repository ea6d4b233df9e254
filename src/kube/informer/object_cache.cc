// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/object_cache.h"

#include <utility>

#include <malloc.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "kube/informer/state/managed_fields.h"

namespace paddle::kube {
namespace {

// Decoding a long list fragments the heap; the memory is returned to the system.
constexpr size_t kWorthTrimming = 1000;

const std::string* text_of(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? &found->get_ref<const std::string&>()
                                                     : nullptr;
}

std::string text_or_empty(const Json& object, const char* field) {
  const std::string* text = text_of(object, field);
  return text ? *text : std::string{};
}

}  // namespace

ObjectCache::ObjectCache(const Resource& resource, Decode decode, Metrics& metrics)
    : resource_(resource),
      decode_(std::move(decode)),
      objects_(metrics.gauge("paddle_informer_objects", "Objects held in memory",
                             {{"resource", resource.plural}})),
      lists_(metrics.counter("paddle_informer_lists_total", "Lists begun, the first one included",
                             {{"resource", resource.plural}})),
      watches_(metrics.counter("paddle_informer_watches_total", "Watches begun",
                               {{"resource", resource.plural}})),
      unreadable_(metrics.counter("paddle_informer_unreadable_total",
                                  "Objects that could not be decoded",
                                  {{"resource", resource.plural}})) {}

ObjectCache::~ObjectCache() {
  Lock lock(mutex_);
  objects_.Decrement(static_cast<double>(reported_));
}

// Key and version; the value is not decoded yet.
Result<ObjectState> ObjectCache::read(const Json& object) const {
  const auto meta = object.is_object() ? object.find("metadata") : object.end();
  if (meta == object.end() || !meta->is_object()) {
    return Error{Code::kInvalid, "an object without metadata"};
  }
  const std::string* name = text_of(*meta, "name");
  if (!name || name->empty()) return Error{Code::kInvalid, "an object without a name"};
  return ObjectState{.key = {text_or_empty(*meta, "namespace"), *name},
                     .uid = text_or_empty(*meta, "uid"),
                     .version = parse_version(text_or_empty(*meta, "resourceVersion")),
                     .deleting = text_of(*meta, "deletionTimestamp") != nullptr};
}

void ObjectCache::decode(const Json& object, ObjectState& seen) {
  auto value = decode_(object);
  if (value) {
    seen.value = *std::move(value);
    return;
  }
  unreadable_.Increment();
  if (is_unreadable(seen.key)) return;  // logged before
  log::warn("object cannot be decoded", {{"resource", resource_.plural},
                                         {"object", to_string(seen.key)},
                                         {"error", value.error().message}});
}

void ObjectCache::add_index(const std::string& name, IndexFunction function) {
  Lock lock(mutex_);
  if (indexes_.contains(name)) return;
  Index& index = indexes_[name];
  index.function = std::move(function);
  state_.each([&](const ObjectKey& key, const Value& value) {
    reindex(index, {.key = key, .after = value});
  });
}

void ObjectCache::on_change(ChangeHandler handler) {
  {
    Lock lock(mutex_);
    handlers_.push_back(std::make_shared<const ChangeHandler>(std::move(handler)));
    const size_t last = handlers_.size();
    std::vector<Change> present;
    state_.each([&](const ObjectKey& key, const Value& value) {
      present.push_back({.key = key, .after = value});
    });
    for (auto& change : present) {
      notifications_.push_back({.first = last - 1, .last = last, .change = std::move(change)});
    }
  }
  dispatch();
}

void ObjectCache::reindex(Index& index, const Change& change) {
  if (change.before) {
    for (const auto& entry : index.function(change.before.get())) {
      const auto found = index.entries.find(entry);
      if (found == index.entries.end()) continue;
      found->second.erase(change.key);
      if (found->second.empty()) index.entries.erase(found);
    }
  }
  if (change.after) {
    for (const auto& entry : index.function(change.after.get())) {
      index.entries[entry].insert(change.key);
    }
  }
}

void ObjectCache::publish(Changes changes) {
  for (auto& change : changes) {
    for (auto& [name, index] : indexes_) reindex(index, change);
    if (!handlers_.empty()) {
      notifications_.push_back({.first = 0, .last = handlers_.size(), .change = std::move(change)});
    }
  }
  objects_.Increment(static_cast<double>(state_.size()) - static_cast<double>(reported_));
  reported_ = state_.size();
}

// The thread that finds notifications, and no other thread delivering them, delivers them until
// none is left.
void ObjectCache::dispatch() {
  {
    Lock lock(mutex_);
    if (dispatching_) return;
    dispatching_ = true;
  }
  while (true) {
    std::deque<Notification> notes;
    std::vector<std::shared_ptr<const ChangeHandler>> handlers;
    {
      Lock lock(mutex_);
      if (notifications_.empty()) {
        dispatching_ = false;
        return;
      }
      notes.swap(notifications_);
      handlers = handlers_;
    }
    for (const Notification& note : notes) {
      if (note.synced) {
        Lock lock(mutex_);
        synced_ = true;
        synced_changed_.notify_all();
        continue;
      }
      for (size_t i = note.first; i < note.last; ++i) {
        (*handlers[i])(note.change.key, note.change.before, note.change.after);
      }
    }
  }
}

bool ObjectCache::has_synced() const {
  Lock lock(mutex_);
  return synced_;
}

bool ObjectCache::wait_until_synced(std::stop_token stop) const {
  Lock lock(mutex_);
  while (!synced_ && !stop.stop_requested()) synced_changed_.wait(mutex_, stop);
  return synced_;
}

Value ObjectCache::find(const ObjectKey& key) const {
  Lock lock(mutex_);
  return state_.find(key);
}

std::vector<Value> ObjectCache::list() const {
  Lock lock(mutex_);
  std::vector<Value> all;
  all.reserve(state_.size());
  state_.each([&](const ObjectKey&, const Value& value) { all.push_back(value); });
  return all;
}

std::vector<Value> ObjectCache::list(const std::string& index, const std::string& entry) const {
  Lock lock(mutex_);
  std::vector<Value> found;
  const auto at = indexes_.find(index);
  if (at == indexes_.end()) return found;
  const auto keys = at->second.entries.find(entry);
  if (keys == at->second.entries.end()) return found;
  found.reserve(keys->second.size());
  for (const auto& key : keys->second) found.push_back(state_.find(key));
  return found;
}

size_t ObjectCache::size() const {
  Lock lock(mutex_);
  return state_.size();
}

bool ObjectCache::is_unreadable(const ObjectKey& key) const {
  Lock lock(mutex_);
  return state_.is_unreadable(key);
}

void ObjectCache::acknowledge(const Json& written) {
  auto seen = read(written);
  if (!seen) return;
  decode(written, *seen);
  acknowledge(*std::move(seen));
}

void ObjectCache::acknowledge(ObjectState written) {
  {
    Lock lock(mutex_);
    publish(state_.acknowledge(std::move(written)));
  }
  dispatch();
}

void ObjectCache::acknowledge_deleted(const ObjectKey& key, const std::string& uid,
                                      const std::string& version) {
  {
    Lock lock(mutex_);
    publish(state_.acknowledge_deleted(key, uid, parse_version(version)));
  }
  dispatch();
}

void ObjectCache::list_begins() { lists_.Increment(); }
void ObjectCache::watch_begins() { watches_.Increment(); }

void ObjectCache::begin_list() {
  Lock lock(mutex_);
  decoded_in_list_ = 0;
  state_.begin_list();
}

void ObjectCache::list_item(std::string_view text) {
  std::string room;
  const auto object = api::parse_json(without_managed_fields(text, room));
  auto seen = object ? read(*object) : Result<ObjectState>(object.error());
  if (!seen) {  // it has no key
    unreadable_.Increment();
    log::warn("item of a list cannot be read",
              {{"resource", resource_.plural}, {"error", seen.error().message}});
    return;
  }
  {
    Lock lock(mutex_);
    if (state_.list_known(seen->key, seen->uid, seen->version)) return;
  }
  decode(*object, *seen);
  Lock lock(mutex_);
  ++decoded_in_list_;
  state_.list_item(*std::move(seen));
}

void ObjectCache::end_list(const std::string& version, bool most_recent) {
  size_t decoded = 0;
  {
    Lock lock(mutex_);
    publish(state_.end_list(parse_version(version), most_recent));
    if (!std::exchange(list_done_, true)) notifications_.push_back({.synced = true});
    decoded = decoded_in_list_;
  }
  dispatch();
  if (decoded >= kWorthTrimming) ::malloc_trim(0);
}

Result<std::string> ObjectCache::event(const WatchEvent& event) {
  std::string room;
  TRY(const Json object, api::parse_json(without_managed_fields(event.object, room)));
  const auto meta = object.find("metadata");
  const std::string* version = object.is_object() && meta != object.end() && meta->is_object()
                                   ? text_of(*meta, "resourceVersion")
                                   : nullptr;
  if (!version || version->empty()) return Error{Code::kInvalid, "an event without a version"};
  if (event.type == EventType::kBookmark) {
    Lock lock(mutex_);
    publish(state_.advance(parse_version(*version)));
  } else {
    TRY(ObjectState seen, read(object));
    const bool gone = event.type == EventType::kDeleted;
    if (!gone) decode(object, seen);
    Lock lock(mutex_);
    publish(gone ? state_.observe_deleted(seen.key, seen.version)
                 : state_.observe(std::move(seen)));
  }
  dispatch();
  return *version;
}

}  // namespace paddle::kube
