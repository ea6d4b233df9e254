// SPDX-License-Identifier: Apache-2.0
//
// The few calls to etcd that elastic training needs. There are three implementations: Client (the
// real server), MemoryStore and FailingStore; all pass store_suite.h. Keys and values are bytes.
//
// What Paddle's elastic manager and launcher store there (JOB is PADDLE_ELASTIC_JOB_ID,
// <namespace>-<name>):
//
//   /paddle/JOB                     "0" while it trains, "1" when a trainer has finished the work
//   /paddle/JOB/np                  desired replicas, decimal. Images of Paddle 2.1 and 2.2 watch
//                                   it; later ones never read it. Only the operator writes it.
//   /paddle/JOB/nodes/<tag><time>   "host:port" of one trainer, on a lease its manager renews
//   /paddle/JOB/endpoints           "<trainer endpoints>|<trainer hosts>"
//   /paddle/JOB/heartbeat/<pod>     the launcher of Paddle >= 2.3 (PADDLE_MASTER=etcd://...)
//   /JOB/info/<pod>/<rank>          the same launcher: the place of each rank in this round
//
// Paddle removes by the prefix "/paddle/JOB" without a slash at the end: that removes np, and the
// keys of a job whose name begins with this one's. So np is written again whenever it is missing.
//
// Thread-safe. A call ends within the time limit of its implementation, or when `stop` is
// requested.

#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::etcd {

struct Entry {
  std::string key{};
  std::string value{};
  std::int64_t revision = 0;  // of its last change; grows with every write to the store
  bool operator==(const Entry&) const = default;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::optional<Entry>> get(const std::string& key, std::stop_token stop = {}) = 0;
  // Every entry whose key begins with `prefix`, in the order of keys. An empty prefix is kInvalid.
  virtual Result<std::vector<Entry>> list(const std::string& prefix, std::stop_token stop = {}) = 0;

  virtual Result<> put(const std::string& key, const std::string& value,
                       std::stop_token stop = {}) = 0;
  // Only when the last change of the key is `revision` (0: the key does not exist); otherwise
  // kConflict.
  virtual Result<> put_if(const std::string& key, const std::string& value, std::int64_t revision,
                          std::stop_token stop = {}) = 0;

  // Done also when there is no such key.
  virtual Result<> remove(const std::string& key, std::stop_token stop = {}) = 0;
  // An empty prefix is kInvalid: it would remove the keys of others.
  virtual Result<> remove_all(const std::string& prefix, std::stop_token stop = {}) = 0;
};

// Errors that all implementations share.
Error no_key();
Error no_prefix();
Error changed(const std::string& key);

}  // namespace paddle::etcd
