// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_server.h"

#include <atomic>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "net/server/connection.h"

namespace paddle::net {
namespace {

// Set for a connection beyond the limit: it is closed without reading it.
thread_local bool turned_away = false;
// Set for a request without a body: nothing of it is left in the connection.
thread_local bool read_completely = false;

// A thread per connection, up to a limit; none while idle. Only the accepting thread calls it.
class Places final : public httplib::TaskQueue {
 public:
  explicit Places(int limit) : places_(static_cast<size_t>(limit)) {}

  void enqueue(std::function<void()> serve) override {
    for (Place& place : places_) {
      if (place.taken) continue;
      if (place.thread.joinable()) place.thread.join();
      place.taken = true;
      place.thread = std::thread([&place, serve = std::move(serve)] {
        serve();
        place.taken = false;
      });
      return;
    }
    turned_away = true;
    serve();
    turned_away = false;
  }

  void shutdown() override {
    for (Place& place : places_) {
      if (place.thread.joinable()) place.thread.join();
    }
  }

 private:
  struct Place {
    std::atomic<bool> taken{false};
    std::thread thread;
  };
  std::vector<Place> places_;
};

class Server final : public httplib::Server {
 public:
  // `tls` null: no TLS.
  Server(HttpServer::Handler handler, ServerLimits limits, int stop_fd,
         std::unique_ptr<TlsContext> tls)
      : handler_(std::move(handler)), limits_(limits), stop_fd_(stop_fd), tls_(std::move(tls)) {
    new_task_queue = [this] { return new Places(limits_.connections); };
    set_payload_max_length(limits_.body_bytes > 0 ? limits_.body_bytes : limits_.request_bytes);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& answer) {
      if (takes_body(request)) return HandlerResponse::Unhandled;  // to be read first
      respond(request, answer);
      return HandlerResponse::Handled;
    });
    // Otherwise the client would send its next request through a connection that is closed.
    set_post_routing_handler([](const httplib::Request&, httplib::Response& answer) {
      if (!read_completely && !answer.has_header("Connection")) {
        answer.set_header("Connection", "close");
      }
    });
    if (limits_.body_bytes > 0) {
      const auto with_body = [this](const httplib::Request& request, httplib::Response& answer) {
        respond(request, answer);
      };
      Put(".*", with_body);
      Post(".*", with_body);
      Delete(".*", with_body);
    }
    // Not httplib's default, SO_REUSEPORT: a second server on the same port must be an error.
    set_socket_options([](socket_t socket) {
      const int on = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
  }

 private:
  bool may_have_body(const httplib::Request& request) const {
    return limits_.body_bytes > 0 &&
           (request.method == "PUT" || request.method == "POST" || request.method == "DELETE");
  }

  bool takes_body(const httplib::Request& request) const {
    return may_have_body(request) && !request.has_header("Content-Encoding") &&
           !request.is_multipart_form_data();
  }

  void respond(const httplib::Request& request, httplib::Response& answer) const {
    const bool gets = request.method == "GET" || request.method == "HEAD";
    read_completely =
        gets && !request.has_header("Content-Length") && !request.has_header("Transfer-Encoding");
    ServerReply reply;
    if (request.method != "GET" && request.method != "HEAD" && !may_have_body(request)) {
      const bool more = limits_.body_bytes > 0;
      reply = {.status = 405, .body = more ? "no such method\n" : "only GET and HEAD\n"};
      answer.set_header("Allow", more ? "GET, HEAD, PUT, POST, DELETE" : "GET, HEAD");
    } else if (may_have_body(request) && !takes_body(request)) {
      reply = {.status = 415, .body = "a compressed body is not supported\n"};
    } else if (request.body.size() > limits_.body_bytes) {
      reply = {.status = 413, .body = "the body is too long\n"};
    } else {
      try {
        std::string query;
        for (const auto& [name, value] : request.params) {
          query += (query.empty() ? "" : "&") + name + "=" + value;
        }
        reply = handler_({request.method, request.path, query,
                          request.get_header_value("Authorization"), request.body});
      } catch (const std::exception& thrown) {
        log::error("a handler threw", {{"path", request.path}, {"what", thrown.what()}});
        reply = {.status = 500, .body = "internal error\n"};
      } catch (...) {
        reply = {.status = 500, .body = "internal error\n"};
      }
    }
    answer.status = reply.status;
    answer.set_content(reply.body, reply.content_type);
  }

  bool process_and_close_socket(socket_t socket) override {
    const UniqueFd owned(socket);
    if (turned_away) return false;
    const auto stream = tls_ ? tls_stream(socket, tls_->current()) : plain_stream(socket);
    const bool keep = kept_.fetch_add(1) < limits_.kept;
    bool served = true;
    try {
      while (served && serve_one(socket, *stream, keep, served)) {
      }
      stream->send_close_notify();
      ::shutdown(socket, SHUT_WR);
    } catch (...) {  // httplib throws on some malformed requests
      served = false;
    }
    --kept_;
    return served;
  }

  // One request and its answer; then waits for the next one. False: the connection ends.
  bool serve_one(socket_t socket, SocketStream& stream, bool keep, bool& served) {
    Connection connection(socket, stream, stop_fd_, system_clock().boot() + limits_.whole_request,
                          limits_.request_bytes + limits_.body_bytes);
    bool closed = false;
    read_completely = false;
    served = process_request(connection, !keep, closed, nullptr);
    if (!served || !keep || closed || !read_completely || connection.has_unread()) return false;
    const Connection idle(socket, stream, stop_fd_, system_clock().boot() + limits_.idle, 0);
    if (!idle.is_readable()) return false;
    char next = 0;  // the client may have closed it
    return ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }

  const HttpServer::Handler handler_;
  const ServerLimits limits_;
  const int stop_fd_;
  const std::unique_ptr<TlsContext> tls_;
  std::atomic<int> kept_{0};  // connections, of which the first `limits_.kept` may stay open
};

int bound_port(Server& server, const Address& address) {
  const auto bind = [&](const std::string& host) {
    if (address.port == 0) return server.bind_to_any_port(host);
    return server.bind_to_port(host, address.port) ? address.port : -1;
  };
  if (!address.host.empty()) return bind(address.host);
  const int both = bind("::");  // takes IPv4 as well
  return both > 0 ? both : bind("0.0.0.0");
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Handler handler, ServerLimits limits, std::unique_ptr<TlsContext> tls)
      : stop_fd_(::eventfd(0, EFD_CLOEXEC)),
        server_(std::move(handler), limits, stop_fd_.get(), std::move(tls)) {}

  ~Impl() {
    ::eventfd_write(stop_fd_.get(), 1);
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Result<> start(const Address& wanted) {
    const int port = bound_port(server_, wanted);
    if (port <= 0) {
      return Error{Code::kUnavailable, "cannot listen on " + to_string(wanted) +
                                           ": the address is in use or not of this host"};
    }
    address_ = {wanted.host, port};
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() has no effect before the loop runs, so the destructor must not run earlier.
    while (!server_.is_running()) system_clock().sleep(std::chrono::milliseconds{1}, {});
    return Done{};
  }

  const Address& address() const { return address_; }

 private:
  UniqueFd stop_fd_;
  Server server_;
  Address address_{};
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

const Address& HttpServer::address() const { return impl_->address(); }

Result<std::unique_ptr<HttpServer>> HttpServer::start(const Address& address, Handler handler,
                                                      ServerLimits limits, const ServerTls& tls) {
  std::unique_ptr<TlsContext> context;
  if (tls != ServerTls{}) {
    TRY(context, TlsContext::open(tls));
  }
  auto impl = std::make_unique<Impl>(std::move(handler), limits, std::move(context));
  CHECK_DONE(impl->start(address));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace paddle::net
