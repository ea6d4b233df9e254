// SPDX-License-Identifier: Apache-2.0
//
// The few calls to etcd that elastic training needs. Three bodies: Client (the real server),
// MemoryStore and FailingStore; all are held to store_suite.h. Keys and values are bytes.
//
// What Paddle keeps there, as its elastic manager and its launcher have it (JOB is
// PADDLE_ELASTIC_JOB_ID, <namespace>-<name>):
//
//   /paddle/JOB                     "0" while it trains, "1" when a trainer has finished the work
//   /paddle/JOB/np                  replicas wanted, decimal. Images of Paddle 2.1 and 2.2 watch
//                                   it; later ones never read it. Only the operator writes it.
//   /paddle/JOB/nodes/<tag><time>   "host:port" of one trainer, on a lease its manager renews
//   /paddle/JOB/endpoints           "<trainer endpoints>|<trainer hosts>"
//   /paddle/JOB/heartbeat/<pod>     the launcher of Paddle >= 2.3 (PADDLE_MASTER=etcd://...)
//   /JOB/info/<pod>/<rank>          the same: who is where in this round
//
// Paddle removes by prefix "/paddle/JOB" without a slash at the end: it takes np away, and the keys
// of a job whose name continues this one's. So np is written again whenever it is not there.
//
// Thread-safe. A call ends within the time its body was given, or when `stop` is asked for.

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
  // Only when the key's last change is `revision` (0: the key is not there); else kConflict.
  virtual Result<> put_if(const std::string& key, const std::string& value, std::int64_t revision,
                          std::stop_token stop = {}) = 0;

  // Done also when there was nothing.
  virtual Result<> remove(const std::string& key, std::stop_token stop = {}) = 0;
  // An empty prefix is kInvalid: it would empty somebody else's store.
  virtual Result<> remove_all(const std::string& prefix, std::stop_token stop = {}) = 0;
};

// What every body says to the same mistake.
Error no_key();
Error no_prefix();
Error changed(const std::string& key);

}  // namespace paddle::etcd
