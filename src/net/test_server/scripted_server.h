// SPDX-License-Identifier: Apache-2.0
//
// A server for tests that sends exactly the bytes of a script, over plain sockets or TLS: late, cut
// in the middle, or wrong. It reads one HTTP/1.1 request at a time and calls the script for each,
// on a thread per connection; calls on one connection never overlap.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/sync.h"
#include "base/unique_fd.h"
#include "net/test_server/certs.h"

struct ssl_ctx_st;
struct ssl_st;

namespace paddle::net {

struct ReceivedRequest {
  std::string method{};
  std::string target{};
  std::map<std::string, std::string> headers{};  // names in lower case
  std::string body{};
  int connection = 0;  // 0 for the first accepted
};

// The connection, for the script.
class ScriptedConnection {
 public:
  virtual ~ScriptedConnection() = default;
  virtual void send(std::string_view bytes) = 0;
  virtual void close() = 0;  // an orderly end of the stream
  virtual void reset() = 0;  // RST
  virtual void
  wait_for_peer() = 0;  // returns when the peer has closed the connection or the server stops

  // A whole response with its length.
  void reply(int status, std::string_view body,
             const std::vector<std::pair<std::string, std::string>>& headers = {});
  void begin_chunks();  // 200, chunked
  void chunk(std::string_view bytes);
  void end_chunks();
};

class ScriptedServer {
 public:
  using Script = std::function<void(const ReceivedRequest&, ScriptedConnection&)>;
  struct Tls {
    Pair server{};
    std::string client_ca{};  // not empty: a client certificate is required
  };

  enum class On { kLoopback, kEveryAddress };

  explicit ScriptedServer(Script script, const std::optional<Tls>& tls = {},
                          On where = On::kLoopback);
  ~ScriptedServer();

  int port() const { return port_; }
  std::string url(const std::string& host = "127.0.0.1") const;
  std::vector<ReceivedRequest> seen()
      EXCLUDES(mutex_);  // every request so far, in order of arrival
  int connections() EXCLUDES(mutex_);

 private:
  void accept_loop();
  void serve(int fd, int number);

  const Script script_;
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_;
  UniqueFd listener_;
  int port_ = 0;
  Mutex mutex_;
  std::vector<ReceivedRequest> seen_ GUARDED_BY(mutex_);
  std::vector<UniqueFd> sockets_ GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::jthread acceptor_;
};

}  // namespace paddle::net
