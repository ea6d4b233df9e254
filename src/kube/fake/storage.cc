// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/storage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"

namespace paddle::kube {

std::string FakeStorage::collection_of(const Resource& resource) {
  return resource.group + "/" + resource.plural;
}

const std::map<ObjectKey, Record>& FakeStorage::records(const Resource& resource) const {
  static const std::map<ObjectKey, Record> kNone;
  const auto found = collections_.find(collection_of(resource));
  return found == collections_.end() ? kNone : found->second.records;
}

const Record* FakeStorage::find(const Resource& resource, const ObjectKey& key) const {
  const auto& all = records(resource);
  const auto found = all.find(key);
  return found == all.end() ? nullptr : &found->second;
}

std::optional<Record> FakeStorage::read(const Resource& resource, const ObjectKey& key) const {
  const Record* found = find(resource, key);
  return found ? std::optional(*found) : std::nullopt;
}

std::vector<Located> FakeStorage::dependents_of(const std::string& uid) const {
  std::vector<Located> found;
  for (const auto& [name, collection] : collections_) {
    for (const auto& [key, record] : collection.records) {
      const auto owners = owner_uids(*record.object);
      if (std::ranges::find(owners, uid) != owners.end()) {
        found.push_back({collection.resource, key});
      }
    }
  }
  return found;
}

std::optional<Located> FakeStorage::find_uid(const std::string& uid) const {
  for (const auto& [name, collection] : collections_) {
    for (const auto& [key, record] : collection.records) {
      if (meta_text(*record.object, "uid") == uid) return Located{collection.resource, key};
    }
  }
  return std::nullopt;
}

StoredObject FakeStorage::put(const Resource& resource, Json object, FieldOwners owners) {
  const ObjectKey key = key_of(object);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  auto& collection = collections_[collection_of(resource)];
  collection.resource = resource;
  Record& record = collection.records[key];
  auto stored = std::make_shared<const Json>(std::move(object));
  history_.push_back({.version = version_,
                      .collection = collection_of(resource),
                      .type = record.object ? EventType::kModified : EventType::kAdded,
                      .object = stored,
                      .before = record.object});
  trim_history();
  record = {.object = stored, .owners = std::move(owners)};
  return stored;
}

void FakeStorage::erase(const Resource& resource, const ObjectKey& key) {
  auto& records = collections_[collection_of(resource)].records;
  const auto found = records.find(key);
  if (found == records.end()) return;
  Json last = *found->second.object;
  last["metadata"]["resourceVersion"] = std::to_string(++version_);
  history_.push_back({.version = version_,
                      .collection = collection_of(resource),
                      .type = EventType::kDeleted,
                      .object = std::make_shared<const Json>(std::move(last)),
                      .before = found->second.object});
  trim_history();
  records.erase(found);
}

void FakeStorage::trim_history() {
  if (history_limit_ == 0 || history_.size() <= history_limit_) return;
  compacted_ = history_.front().version;
  history_.pop_front();
}

void FakeStorage::compact() {
  compacted_ = version_;
  history_.clear();
}

std::deque<HistoryEntry>::const_iterator FakeStorage::after(std::uint64_t version) const {
  return std::ranges::upper_bound(history_, version, {}, &HistoryEntry::version);
}

}  // namespace paddle::kube
