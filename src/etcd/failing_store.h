// SPDX-License-Identifier: Apache-2.0
//
// A Store that wraps another one and makes chosen calls fail: before they have an effect, or after
// it, when the response is lost. For tests. Thread-safe when the wrapped store is.

#pragma once

#include <functional>

#include "base/sync.h"
#include "etcd/store.h"

namespace paddle::etcd {

class FailingStore final : public Store {
 public:
  enum class Fault { kWorks, kFailsBefore, kFailsAfter };
  // Called once per call, with its number (0, 1, ...). A failed call is kUnavailable before its
  // effect and kDeadline after it.
  using FaultPolicy = std::function<Fault(int call)>;

  FailingStore(Store& inner, FaultPolicy policy) : inner_(inner), policy_(std::move(policy)) {}

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
  auto perform(Call call) -> decltype(call());

  Store& inner_;
  const FaultPolicy policy_;
  mutable Mutex mutex_;
  int calls_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::etcd
