// SPDX-License-Identifier: Apache-2.0
//
// Another Store whose chosen calls fail: before they have an effect, or after it, when the answer
// gets lost. For tests. Thread-safe when the store beneath is.

#pragma once

#include <functional>

#include "base/sync.h"
#include "etcd/store.h"

namespace paddle::etcd {

class FailingStore final : public Store {
 public:
  enum class Fate { kWorks, kFailsBefore, kFailsAfter };
  // Asked once per call, with its number (0, 1, ...). A failed call is kUnavailable before its
  // effect and kDeadline after it.
  using Fates = std::function<Fate(int call)>;

  FailingStore(Store& beneath, Fates fates) : beneath_(beneath), fates_(std::move(fates)) {}

  int calls() const;

  Result<std::optional<Entry>> get(const std::string& key, std::stop_token stop) override;
  Result<std::vector<Entry>> list(const std::string& prefix, std::stop_token stop) override;
  Result<> put(const std::string& key, const std::string& value, std::stop_token stop) override;
  Result<> put_if(const std::string& key, const std::string& value, std::int64_t revision,
                  std::stop_token stop) override;
  Result<> remove(const std::string& key, std::stop_token stop) override;
  Result<> remove_all(const std::string& prefix, std::stop_token stop) override;

 private:
  template <typename Call>
  auto meet_fate(Call call) -> decltype(call());

  Store& beneath_;
  const Fates fates_;
  mutable Mutex mutex_;
  int calls_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::etcd
