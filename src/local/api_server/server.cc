// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/server.h"

#include <thread>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/log.h"
#include "base/random.h"
#include "local/api_server/certificate.h"
#include "local/api_server/data_directory.h"
#include "local/api_server/writer.h"

namespace paddle::local {

// Members are destroyed in reverse order: users before what they use.
class ApiServer::Parts {
 public:
  Parts(const ApiServerOptions& options, std::unique_ptr<Storage> opened, std::string secret)
      : clock(options.clock ? *options.clock : system_clock()),
        storage(std::move(opened)),
        writer(*storage, clock, system_random()),
        api(*storage, writer, clock, options.api),
        token(std::move(secret)) {}
  ~Parts() {
    stop.request_stop();
    if (gc_thread.joinable()) gc_thread.join();
    if (http) http->stop();
    storage->listen({});
  }

  Result<> serve(const ApiServerOptions& options) {
    CHECK_DONE(writer.create_default_namespaces());
    HttpOptions wanted = options.http;
    wanted.token = token;
    if (wanted.serving_certificate.key.empty()) {
      TRY(wanted.serving_certificate,
          load_serving_certificate(options.directory, wanted.address, clock.wall()));
    }
    certificate = wanted.serving_certificate.certificate;
    TRY(http, HttpServer::start(wanted, clock,
                                [this](const Request& request) { return api.handle(request); }));
    storage->listen([this](const std::set<std::string>& changed) { http->wake(changed); });
    address =
        wanted.address.find(':') == std::string::npos ? wanted.address : "[" + wanted.address + "]";
    gc_thread = std::thread([this, pause = options.gc_interval] { run_garbage_collection(pause); });
    return Done{};
  }

  void run_garbage_collection(std::chrono::seconds pause) {
    while (clock.sleep(pause, stop.get_token())) {
      if (auto done = writer.collect_garbage(); !done) {
        log::warn("garbage collection failed", {{"error", done.error().message}});
      }
    }
  }

  const Clock& clock;
  std::unique_ptr<Storage> storage;
  Writer writer;
  Api api;
  const std::string token;
  std::string certificate{};
  std::string address{};
  std::stop_source stop{};
  std::unique_ptr<HttpServer> http{};
  std::thread gc_thread{};
};

ApiServer::ApiServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ApiServer::~ApiServer() = default;

Result<std::unique_ptr<ApiServer>> ApiServer::start(const ApiServerOptions& options) {
  TRY(auto storage,
      Storage::open({.directory = options.directory, .keep_changes = options.keep_changes}));
  std::string token = options.http.token;
  if (token.empty()) {
    TRY(token, load_token(options.directory));
  }
  auto parts = std::make_unique<Parts>(options, std::move(storage), std::move(token));
  CHECK_DONE(parts->serve(options));
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(parts)));
}

std::string ApiServer::url() const {
  return "https://" + parts_->address + ":" + std::to_string(parts_->http->port());
}

const std::string& ApiServer::token() const { return parts_->token; }

const std::string& ApiServer::certificate() const { return parts_->certificate; }
ClientConfig ApiServer::client_config() const {
  return {.url = url(), .token = token(), .certificate = certificate()};
}

Result<> ApiServer::compact() {
  CHECK_DONE(parts_->storage->compact());
  std::set<std::string> all;
  for (const Kind& kind : all_kinds()) all.insert(collection_of(kind.resource));
  parts_->http->wake(all);  // watches that are behind end now
  return Done{};
}

std::string kubeconfig_of(const ClientConfig& config) {
  const api::Json cluster{{"server", config.url},
                          {"certificate-authority-data", base64_encode(config.certificate)}};
  const api::Json context{
      {"cluster", "paddle-local"}, {"user", "paddle-local"}, {"namespace", config.ns}};
  const api::Json kubeconfig{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"current-context", "paddle-local"},
      {"clusters", api::Json::array({{{"name", "paddle-local"}, {"cluster", cluster}}})},
      {"users",
       api::Json::array({{{"name", "paddle-local"}, {"user", {{"token", config.token}}}}})},
      {"contexts", api::Json::array({{{"name", "paddle-local"}, {"context", context}}})}};
  return kubeconfig.dump(2) + "\n";
}

}  // namespace paddle::local
