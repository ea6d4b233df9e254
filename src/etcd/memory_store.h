// SPDX-License-Identifier: Apache-2.0
//
// A Store in memory: for tests, and for a single machine without an etcd. Thread-safe.

#pragma once

#include <map>

#include "base/sync.h"
#include "etcd/store.h"

namespace paddle::etcd {

class MemoryStore final : public Store {
 public:
  Result<std::optional<Entry>> get(const std::string& key, std::stop_token stop) override;
  Result<std::vector<Entry>> list(const std::string& prefix, std::stop_token stop) override;
  Result<> put(const std::string& key, const std::string& value, std::stop_token stop) override;
  Result<> put_if(const std::string& key, const std::string& value, std::int64_t revision,
                  std::stop_token stop) override;
  Result<> remove(const std::string& key, std::stop_token stop) override;
  Result<> remove_all(const std::string& prefix, std::stop_token stop) override;

 private:
  Mutex mutex_;
  std::map<std::string, Entry> entries_ GUARDED_BY(mutex_){};
  std::int64_t revision_ GUARDED_BY(mutex_) = 1;
};

}  // namespace paddle::etcd
