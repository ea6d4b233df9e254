// SPDX-License-Identifier: Apache-2.0
//
// The embedded API server of one machine: the slice of the Kubernetes REST protocol that we use,
// over SQLite, on loopback. What it serves and where it differs from a real kube-apiserver is in
// this folder's README.
//
//   auto server = ApiServer::start({.directory = "/home/me/.paddle/local"});
//   kube::Client with url(), token() and certificate(), or kubectl with kubeconfig_of().
//
// start() returns when requests are answered. The destructor cuts connections and returns when
// every thread is gone; everything acknowledged is on the disk at any time. Thread-safe.

#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "local/api_server/api.h"
#include "local/api_server/http_server.h"
#include "local/api_server/storage.h"

namespace paddle::local {

struct ApiServerOptions {
  std::string directory{};  // 0700; holds state.db, token, server.pem and lock
  HttpOptions http{};       // token and serving_certificate: those in the directory, unless given
  ApiOptions api{};
  std::int64_t keep_changes = 4096;
  std::chrono::seconds gc_interval{30};
  const Clock* clock = nullptr;  // null: the machine's
};

// A kubeconfig (JSON, which is YAML) for this server. Holds the token: keep it private.
struct ClientConfig {
  std::string url{};
  std::string token{};
  std::string certificate{};
  std::string ns = "default";
};
std::string kubeconfig_of(const ClientConfig& config);

class ApiServer {
 public:
  static Result<std::unique_ptr<ApiServer>> start(const ApiServerOptions& options);
  ~ApiServer();

  std::string url() const;  // https://127.0.0.1:PORT
  const std::string& token() const;
  const std::string& certificate() const;  // PEM: what clients verify the server by

  ClientConfig client_config() const;

  // Forgets the history of changes, as compaction does: older watches start again.
  Result<> compact();

 private:
  class Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace paddle::local
