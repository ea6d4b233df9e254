// SPDX-License-Identifier: Apache-2.0
#include "etcd/failing_store.h"

namespace paddle::etcd {

int FailingStore::calls() const {
  const Lock lock(mutex_);
  return calls_;
}

template <typename Call>
auto FailingStore::perform(Call call) -> decltype(call()) {
  int number = 0;
  {
    const Lock lock(mutex_);
    number = calls_++;
  }
  const Fault fault = policy_(number);
  if (fault == Fault::kFailsBefore) return Error{Code::kUnavailable, "etcd: connection refused"};
  auto result = call();
  if (fault == Fault::kFailsAfter) return Error{Code::kDeadline, "etcd: no response in time"};
  return result;
}

Result<std::optional<Entry>> FailingStore::get(const std::string& key, std::stop_token stop) {
  return perform([&] { return inner_.get(key, stop); });
}
Result<std::vector<Entry>> FailingStore::list(const std::string& prefix, std::stop_token stop) {
  return perform([&] { return inner_.list(prefix, stop); });
}
Result<> FailingStore::put(const std::string& key, const std::string& value, std::stop_token stop) {
  return perform([&] { return inner_.put(key, value, stop); });
}
Result<> FailingStore::put_if(const std::string& key, const std::string& value,
                              std::int64_t revision, std::stop_token stop) {
  return perform([&] { return inner_.put_if(key, value, revision, stop); });
}
Result<> FailingStore::remove(const std::string& key, std::stop_token stop) {
  return perform([&] { return inner_.remove(key, stop); });
}
Result<> FailingStore::remove_all(const std::string& prefix, std::stop_token stop) {
  return perform([&] { return inner_.remove_all(prefix, stop); });
}

}  // namespace paddle::etcd
