// SPDX-License-Identifier: Apache-2.0
//
// The objects of FakeCluster: the current objects of every kind, and the history of changes since
// the last compaction, under one version counter as in etcd. Not thread-safe: FakeCluster locks.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "kube/options.h"
#include "kube/resource.h"
#include "kube/rules/object_store.h"

namespace paddle::kube {

struct HistoryEntry {
  std::uint64_t version = 0;
  std::string collection{};
  EventType type = EventType::kAdded;
  StoredObject object{};  // after the change; for a deletion the last state with the new version
  StoredObject before{};  // null for a creation
};

struct Collection {
  Resource resource{};
  std::map<ObjectKey, Record> records{};
};

class FakeStorage final : public ObjectStore {
 public:
  // `history_limit`: changes that are kept; 0: all of them until compact().
  explicit FakeStorage(size_t history_limit = 0) : history_limit_(history_limit) {}

  // The key of a collection is its group and plural; API versions of a kind share it.
  static std::string collection_of(const Resource& resource);

  const Record* find(const Resource& resource, const ObjectKey& key) const;
  const std::map<ObjectKey, Record>& records(const Resource& resource) const;
  const std::map<std::string, Collection>& collections() const { return collections_; }

  std::optional<Record> read(const Resource& resource, const ObjectKey& key) const override;
  StoredObject put(const Resource& resource, Json object, FieldOwners owners) override;
  void erase(const Resource& resource, const ObjectKey& key) override;
  std::vector<Located> dependents_of(const std::string& uid) const override;
  std::optional<Located> find_uid(const std::string& uid) const override;

  std::uint64_t version() const { return version_; }
  std::uint64_t compacted() const { return compacted_; }
  void compact();
  // The entries after `version`, oldest first; meaningful when version >= compacted().
  std::deque<HistoryEntry>::const_iterator after(std::uint64_t version) const;
  std::deque<HistoryEntry>::const_iterator end() const { return history_.end(); }

 private:
  void trim_history();

  size_t history_limit_;
  std::uint64_t version_ = 1;
  std::uint64_t compacted_ = 0;
  std::map<std::string, Collection> collections_{};
  std::deque<HistoryEntry> history_{};
};

}  // namespace paddle::kube
