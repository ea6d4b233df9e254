// SPDX-License-Identifier: Apache-2.0
#include "test/juicefs/bos_server.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paddle::test {
namespace {

using Json = nlohmann::json;

std::string listing(const std::map<std::string, std::string>& objects) {
  Json all = {{"name", "demo"}, {"maxKeys", 1000}, {"isTruncated", false}};
  all["contents"] = Json::array();
  for (const auto& [key, bytes] : objects) {
    all["contents"].push_back(Json{{"key", key},
                                   {"lastModified", "2026-01-01T00:00:00Z"},
                                   {"eTag", "tag"},
                                   {"size", bytes.size()},
                                   {"storageClass", "STANDARD"}});
  }
  return all.dump();
}

}  // namespace

Result<std::unique_ptr<BosServer>> BosServer::start(std::map<std::string, std::string> objects,
                                                    const net::ServerTls& tls) {
  std::unique_ptr<BosServer> server(new BosServer(std::move(objects)));
  TRY(const net::Address address, net::parse_address("127.0.0.1:0"));
  TRY(server->http_,
      net::HttpServer::start(
          address,
          [self = server.get()](const net::ServerRequest& ask) { return self->answer(ask); }, {},
          tls));
  return server;
}

std::vector<std::string> BosServer::callers() const {
  Lock lock(mutex_);
  return callers_;
}

net::ServerReply BosServer::answer(const net::ServerRequest& ask) {
  // "bce-auth-v1/<access key>/<time>/..."
  const std::string& told = ask.authorization;
  const std::size_t slash = told.find('/');
  {
    Lock lock(mutex_);
    callers_.push_back(told.substr(0, slash == told.npos ? slash : told.find('/', slash + 1)));
  }
  const std::string root = "/demo";
  if (ask.path == root || ask.path == root + "/") {
    return {.body = listing(objects_), .content_type = "application/json"};
  }
  const auto found = ask.path.starts_with(root + "/")
                         ? objects_.find(ask.path.substr(root.size() + 1))
                         : objects_.end();
  if (found == objects_.end()) {
    return {.status = 404,
            .body = R"({"code":"NoSuchKey","message":"no such key","requestId":"1"})",
            .content_type = "application/json"};
  }
  return {.body = found->second, .content_type = "image/jpeg"};
}

}  // namespace paddle::test
