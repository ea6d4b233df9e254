// SPDX-License-Identifier: Apache-2.0
//
// A real etcd, v3, through its JSON gateway (/v3/kv/range, put, deleterange, txn; etcd >= 3.4).
// Endpoints are tried in the order given, the one that answered last first; an endpoint that can
// not be reached or says it is unavailable passes the call on to the next. Every call here may be
// made twice without harm: a put_if whose answer got lost meets its own write and says kConflict,
// and the caller reads again.
//
//   kUnavailable  no endpoint answered        kDeadline  none did in time
//   kConflict     see Store                   kInvalid   etcd refuses the call
//
// Thread-safe; no lock is held during a call.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "etcd/store.h"
#include "net/http_client.h"

namespace paddle::etcd {

// "a:2379,http://b:2379" as users write it -> {"http://a:2379", "http://b:2379"}. kInvalid names
// the part that is no address. An empty text gives an empty list.
Result<std::vector<std::string>> parse_endpoints(const std::string& text);

struct ClientOptions {
  std::vector<std::string> endpoints{};      // URLs; at least one
  std::chrono::milliseconds timeout{3'000};  // for one call, all endpoints together
  net::TlsOptions tls{};
};

class Client final : public Store {
 public:
  explicit Client(ClientOptions options, const Clock& clock = system_clock());

  Result<std::optional<Entry>> get(const std::string& key, std::stop_token stop) override;
  Result<std::vector<Entry>> list(const std::string& prefix, std::stop_token stop) override;
  Result<> put(const std::string& key, const std::string& value, std::stop_token stop) override;
  Result<> put_if(const std::string& key, const std::string& value, std::int64_t revision,
                  std::stop_token stop) override;
  Result<> remove(const std::string& key, std::stop_token stop) override;
  Result<> remove_all(const std::string& prefix, std::stop_token stop) override;

 private:
  Result<api::Json> ask(const std::string& path, const api::Json& body, std::stop_token stop);
  Result<api::Json> ask_one(const std::string& endpoint, const std::string& path,
                            const std::string& body, std::chrono::milliseconds limit,
                            std::stop_token stop);

  const ClientOptions options_;
  const Clock& clock_;
  net::HttpClient http_;               // self-synchronised
  std::atomic<std::size_t> first_{0};  // the endpoint that answered last
};

}  // namespace paddle::etcd
