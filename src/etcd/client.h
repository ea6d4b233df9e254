// SPDX-License-Identifier: Apache-2.0
//
// A real etcd, v3, through its JSON gateway (/v3/kv/range, put, deleterange, txn; etcd >= 3.4).
// Endpoints are tried in the given order, starting with the one that answered last; when an
// endpoint cannot be reached or is unavailable, the next one is tried. Every call may be executed
// twice without harm: a put_if whose response was lost finds its own write and returns kConflict,
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

// "a:2379,http://b:2379" -> {"http://a:2379", "http://b:2379"}. kInvalid names the part that is not
// an address. An empty text gives an empty list.
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
  Result<api::Json> call(const std::string& path, const api::Json& body, std::stop_token stop);
  Result<api::Json> call_endpoint(const std::string& endpoint, const std::string& path,
                                  const std::string& body, std::chrono::milliseconds limit,
                                  std::stop_token stop);

  const ClientOptions options_;
  const Clock& clock_;
  net::HttpClient http_;               // self-synchronised
  std::atomic<std::size_t> first_{0};  // the endpoint that answered last
};

}  // namespace paddle::etcd
