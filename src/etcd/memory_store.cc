// SPDX-License-Identifier: Apache-2.0
#include "etcd/memory_store.h"

namespace paddle::etcd {
namespace {

Error cancelled() { return {Code::kCancelled, "stopped"}; }

}  // namespace

Result<std::optional<Entry>> MemoryStore::get(const std::string& key, std::stop_token stop) {
  if (key.empty()) return no_key();
  if (stop.stop_requested()) return cancelled();
  const Lock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<Entry>> MemoryStore::list(const std::string& prefix, std::stop_token stop) {
  if (prefix.empty()) return no_prefix();
  if (stop.stop_requested()) return cancelled();
  const Lock lock(mutex_);
  std::vector<Entry> found;
  for (auto at = entries_.lower_bound(prefix); at != entries_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    found.push_back(at->second);
  }
  return found;
}

Result<> MemoryStore::put(const std::string& key, const std::string& value, std::stop_token stop) {
  if (key.empty()) return no_key();
  if (stop.stop_requested()) return cancelled();
  const Lock lock(mutex_);
  entries_[key] = {key, value, ++revision_};
  return Done{};
}

Result<> MemoryStore::put_if(const std::string& key, const std::string& value,
                             std::int64_t revision, std::stop_token stop) {
  if (key.empty()) return no_key();
  if (stop.stop_requested()) return cancelled();
  const Lock lock(mutex_);
  const auto found = entries_.find(key);
  if ((found == entries_.end() ? 0 : found->second.revision) != revision) return changed(key);
  entries_[key] = {key, value, ++revision_};
  return Done{};
}

Result<> MemoryStore::remove(const std::string& key, std::stop_token stop) {
  if (key.empty()) return no_key();
  if (stop.stop_requested()) return cancelled();
  const Lock lock(mutex_);
  if (entries_.erase(key) > 0) ++revision_;
  return Done{};
}

Result<> MemoryStore::remove_all(const std::string& prefix, std::stop_token stop) {
  if (prefix.empty()) return no_prefix();
  if (stop.stop_requested()) return cancelled();
  const Lock lock(mutex_);
  auto at = entries_.lower_bound(prefix);
  while (at != entries_.end() && at->first.starts_with(prefix)) at = entries_.erase(at);
  ++revision_;
  return Done{};
}

}  // namespace paddle::etcd
