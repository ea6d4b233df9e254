// SPDX-License-Identifier: Apache-2.0
//
// The part of Baidu's object storage that a reader of one bucket needs, over TLS: a listing, and
// objects. It records its requests and checks no signature.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "net/server/http_server.h"

namespace paddle::test {

class BosServer {
 public:
  // Keys to bytes, in the bucket "demo". At 127.0.0.1, as "localhost".
  static Result<std::unique_ptr<BosServer>> start(std::map<std::string, std::string> objects,
                                                  const net::ServerTls& tls);
  int port() const { return http_->address().port; }
  // The beginning of each "Authorization" that came, up to the access key; "" for none.
  std::vector<std::string> callers() const EXCLUDES(mutex_);

 private:
  explicit BosServer(std::map<std::string, std::string> objects) : objects_(std::move(objects)) {}
  net::ServerReply answer(const net::ServerRequest& ask) EXCLUDES(mutex_);

  const std::map<std::string, std::string> objects_;
  mutable Mutex mutex_;
  std::vector<std::string> callers_ GUARDED_BY(mutex_){};
  std::unique_ptr<net::HttpServer> http_;  // last: its threads use everything above
};

}  // namespace paddle::test
