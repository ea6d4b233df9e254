// SPDX-License-Identifier: Apache-2.0
//
// The embedded API server of one machine: the slice of the Kubernetes REST protocol that we use,
// over SQLite, on loopback. This folder's README lists what it serves and the differences from a
// real kube-apiserver.
//
//   auto server = ApiServer::start({.directory = "/home/me/.paddle/local"});
//   kube::Client with url(), token() and certificate(), or kubectl with kubeconfig_of().
//
// start() returns when the server answers requests. The destructor closes connections and returns
// when every thread has ended; acknowledged writes are always on disk. Thread-safe.

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
  HttpOptions http{};       // empty token and certificate: those in the directory
  ApiOptions api{};
  std::int64_t keep_changes = 4096;
  std::chrono::seconds gc_interval{30};
  const Clock* clock = nullptr;  // null: system_clock()
};

// The settings of a client of this server. kubeconfig_of() returns them as a kubeconfig (JSON,
// which is YAML). Contains the token: keep it private.
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
  const std::string& certificate() const;  // PEM, with which clients verify the server

  ClientConfig client_config() const;

  // Drops the history of changes, as etcd's compaction does: older watches start again.
  Result<> compact();

 private:
  class Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace paddle::local
