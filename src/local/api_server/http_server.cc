// SPDX-License-Identifier: Apache-2.0
// ThreadSanitizer does not know fences (g++ refuses them there); Asio's own locks are enough for
// it.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK 1
#endif

#include "local/api_server/http_server.h"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "base/log.h"
#include "base/sync.h"

namespace paddle::local {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// Shared by all sessions; outlives them.
struct Shared {
  HttpOptions options{};
  const Clock* clock = nullptr;
  HttpServer::Handler handler{};
  asio::ssl::context tls{asio::ssl::context::tls_server};
  std::atomic<int> connections{0};
};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// A Warning header is a quoted string: quotes are escaped, control characters removed.
std::string warning_header(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) continue;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "299 - \"" + quoted.substr(0, 1024) + "\"";
}

Reply safely(const HttpServer::Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (const std::exception& e) {
    log::error("exception in a request",
               {{"method", request.method}, {"target", request.target}, {"what", e.what()}});
    return failure(500, "InternalError", "an error on the server has prevented the request");
  }
}

// Of a body that is too large.
constexpr size_t kMostDroppedBytes = size_t{64} << 20;
constexpr size_t kDropPiece = size_t{16} << 10;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)),
        stream_(std::move(socket), shared_->tls),
        timer_(stream_.get_executor()),
        buffer_(shared_->options.header_bytes + shared_->options.body_bytes + 4096) {
    ++shared_->connections;
  }
  ~Session() { --shared_->connections; }

  void run() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->handshake(); });
  }

  // Thread-safe.
  void wake(const std::set<std::string>& collections) {
    asio::post(stream_.get_executor(), [self = shared_from_this(), collections] {
      if (!self->source_) return;
      for (const auto& collection : collections) {
        if (self->source_->is_interested_in(collection)) return self->pump();
      }
    });
  }

 private:
  auto then(void (Session::*step)(error_code, size_t)) {
    return [self = shared_from_this(), step](error_code error, size_t count) {
      (self.get()->*step)(error, count);
    };
  }

  beast::tcp_stream& wire() { return beast::get_lowest_layer(stream_); }

  void handshake() {
    wire().expires_after(shared_->options.first_request);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](error_code error) {
                              if (error) return self->close();
                              self->read_header();
                            });
  }

  void read_header() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_->options.header_bytes));
    parser_->body_limit(shared_->options.body_bytes);
    wire().expires_after(authenticated_ ? shared_->options.idle : shared_->options.first_request);
    http::async_read_header(stream_, buffer_, *parser_, then(&Session::on_header));
  }

  void on_header(error_code error, size_t) {
    if (error == http::error::header_limit) {
      return refuse(failure(431, "RequestHeaderFieldsTooLarge", "the headers are too large"));
    }
    if (error == http::error::body_limit) return refuse_body();
    if (error)
      return error.category() == http::make_error_code(http::error::bad_method).category() &&
                     error != http::error::end_of_stream && error != http::error::partial_message
                 ? refuse(bad_request("the request is not HTTP"))
                 : close();
    if (!is_health() && !is_authorized()) {
      return refuse(failure(401, "Unauthorized", "Unauthorized"));
    }
    authenticated_ = authenticated_ || is_authorized();
    wire().expires_after(shared_->options.body);
    if (view(parser_->get()[http::field::expect]) == "100-continue") {
      continue_response_.emplace(http::status::continue_, 11);
      return http::async_write(stream_, *continue_response_, then(&Session::on_continue));
    }
    http::async_read(stream_, buffer_, *parser_, then(&Session::on_request));
  }

  void on_continue(error_code error, size_t) {
    if (error) return close();
    http::async_read(stream_, buffer_, *parser_, then(&Session::on_request));
  }

  bool is_health() const {
    const std::string_view target = view(parser_->get().target());
    const std::string_view path = target.substr(0, target.find('?'));
    return path == "/healthz" || path == "/readyz" || path == "/livez";
  }

  bool is_authorized() const {
    std::string_view given = view(parser_->get()[http::field::authorization]);
    constexpr std::string_view kScheme = "Bearer ";
    if (!given.starts_with(kScheme)) return false;
    given.remove_prefix(kScheme.size());
    return same_secret(given, shared_->options.token);
  }

  static Reply too_large() {
    return failure(413, "RequestEntityTooLarge", "the request is too large");
  }

  void on_request(error_code error, size_t) {
    if (error == http::error::body_limit) return refuse_body();
    if (error) return close();
    auto& message = parser_->get();
    const Request request{.method = std::string(view(message.method_string())),
                          .target = std::string(view(message.target())),
                          .accept = std::string(view(message[http::field::accept])),
                          .content_type = std::string(view(message[http::field::content_type])),
                          .body = std::move(message.body())};
    Reply reply = safely(shared_->handler, request);
    if (reply.stream) return begin_stream(std::move(reply));
    answer(reply, message.keep_alive(), request.method == "HEAD");
  }

  void refuse(const Reply& reply) { answer(reply, false, false); }

  // Most clients read the answer only after they have sent everything: with a closed connection
  // they would see a broken pipe instead of it. So the rest is read and dropped, within limits.
  void refuse_body() {
    left_to_drop_ = is_authorized() ? kMostDroppedBytes : 0;
    refuse(too_large());
  }

  void drop_rest() {
    dropped_.resize(kDropPiece);
    stream_.async_read_some(asio::buffer(dropped_), then(&Session::on_dropped));
  }

  void on_dropped(error_code error, size_t count) {
    left_to_drop_ -= std::min(left_to_drop_, count);
    if (error || left_to_drop_ == 0) return close();
    drop_rest();
  }

  template <typename Message>
  static void fill(Message& message, const Reply& reply) {
    message.set(http::field::content_type, reply.content_type);
    message.set(http::field::cache_control, "no-cache, private");
    if (reply.status == 401) message.set(http::field::www_authenticate, "Bearer");
    if (reply.status == 429 || reply.status == 503) message.set(http::field::retry_after, "1");
    for (const auto& warning : reply.warnings) {
      message.insert(http::field::warning, warning_header(warning));
    }
  }

  void answer(const Reply& reply, bool keep, bool head) {
    response_.emplace(static_cast<http::status>(reply.status), 11);
    fill(*response_, reply);
    response_->keep_alive(keep);
    response_->content_length(reply.body.size());
    if (!head) response_->body() = reply.body;
    wire().expires_after(shared_->options.write);
    http::async_write(stream_, *response_, then(&Session::on_answered));
  }

  void on_answered(error_code error, size_t) {
    if (!error && left_to_drop_ > 0) {
      wire().expires_after(shared_->options.body);
      return drop_rest();
    }
    if (error || response_->need_eof() || !response_->keep_alive()) return close();
    response_.reset();
    read_header();
  }

  // From here on the stream owns the connection, which ends with it.
  void begin_stream(Reply reply) {
    source_ = std::move(reply.stream);
    head_.emplace(http::status::ok, 11);
    fill(*head_, reply);
    head_->keep_alive(false);
    head_->chunked(true);
    serializer_.emplace(*head_);
    writing_ = true;
    wire().expires_never();  // for the pending read; writes have their own limit
    stream_.async_read_some(asio::buffer(&rest_, 1), then(&Session::on_readable));
    wire().expires_after(shared_->options.write);
    http::async_write_header(stream_, *serializer_, then(&Session::on_chunk_written));
  }

  // A client sends nothing during a watch: when this read ends, the client has gone away.
  void on_readable(error_code, size_t) { close(); }

  void pump() {
    if (writing_ || !source_) return;
    if (ending_) return finish();
    StreamChunk chunk;
    try {
      chunk = source_->next(shared_->clock->boot());
    } catch (const std::exception& e) {
      log::error("exception in a stream", {{"what", e.what()}});
      return close();
    }
    ending_ = chunk.ended;
    if (!chunk.text.empty()) {
      text_ = std::move(chunk.text);
      writing_ = true;
      wire().expires_after(shared_->options.write);
      asio::async_write(stream_, http::make_chunk(asio::buffer(text_)),
                        then(&Session::on_chunk_written));
    } else if (ending_) {
      finish();
    } else {
      wait(source_->poll_interval());
    }
  }

  void on_chunk_written(error_code error, size_t) {
    writing_ = false;
    if (error) return close();
    pump();
  }

  void wait(std::chrono::milliseconds pause) {
    timer_.expires_after(pause);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->pump();
    });
  }

  void finish() {
    source_.reset();
    timer_.cancel();
    wire().expires_after(shared_->options.write);
    asio::async_write(stream_, http::make_chunk_last(),
                      [self = shared_from_this()](error_code, size_t) { self->close(); });
  }

  void close() {
    source_.reset();
    timer_.cancel();
    error_code ignored;
    wire().socket().shutdown(tcp::socket::shutdown_both, ignored);
    wire().close();
  }

  std::shared_ptr<Shared> shared_;
  beast::ssl_stream<beast::tcp_stream> stream_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  size_t left_to_drop_ = 0;  // of a body that was refused
  std::vector<char> dropped_{};
  std::optional<http::request_parser<http::string_body>> parser_{};
  std::optional<http::response<http::empty_body>> continue_response_{};
  std::optional<http::response<http::string_body>> response_{};
  std::optional<http::response<http::empty_body>> head_{};
  std::optional<http::response_serializer<http::empty_body>> serializer_{};
  std::shared_ptr<Stream> source_{};
  std::string text_{};
  char rest_ = 0;
  bool authenticated_ = false;
  bool writing_ = false;
  bool ending_ = false;
};

}  // namespace

bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    difference |= static_cast<unsigned>(given[i] ^ other);
  }
  return difference == 0 && !wanted.empty();
}

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, const Clock& clock, Handler handler)
      : shared_(std::make_shared<Shared>()), acceptor_(context_), pause_(context_) {
    shared_->options = options;
    shared_->clock = &clock;
    shared_->handler = std::move(handler);
  }

  ~Impl() { stop(); }

  void stop() {
    context_.stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  Result<> start() {
    error_code error;
    const HttpOptions& options = shared_->options;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) return Error{Code::kInvalid, options.address + " is not an IP address"};
    if (!address.is_loopback() && !options.may_be_remote) {
      return Error{Code::kForbidden, options.address + " is not a loopback address"};
    }
    const ServingCertificate& serving_certificate = options.serving_certificate;
    shared_->tls.use_certificate_chain(asio::buffer(serving_certificate.certificate), error);
    if (!error) {
      shared_->tls.use_private_key(asio::buffer(serving_certificate.key), asio::ssl::context::pem,
                                   error);
    }
    if (error) return Error{Code::kInvalid, "the certificate cannot be used: " + error.message()};
    SSL_CTX_set_min_proto_version(shared_->tls.native_handle(), TLS1_2_VERSION);
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(options.port));
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return Error{Code::kUnavailable, "listen on " + options.address + ":" +
                                           std::to_string(options.port) + ": " + error.message()};
    }
    port_ = acceptor_.local_endpoint(error).port();
    accept();
    for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { context_.run(); });
    return Done{};
  }

  int port() const { return port_; }

  void wake(const std::set<std::string>& collections) EXCLUDES(mutex_) {
    std::vector<std::shared_ptr<Session>> open;
    {
      Lock lock(mutex_);
      for (const auto& session : sessions_) {
        if (auto alive = session.lock()) open.push_back(std::move(alive));
      }
    }
    for (const auto& session : open) session->wake(collections);
  }

 private:
  void accept() {
    acceptor_.async_accept(asio::make_strand(context_),
                           [this](error_code error, tcp::socket socket) {
                             if (error) return accept_later();
                             if (shared_->connections < shared_->options.connections) {
                               error_code ignored;
                               socket.set_option(tcp::no_delay(true), ignored);
                               auto session = std::make_shared<Session>(std::move(socket), shared_);
                               remember(session);
                               session->run();
                             }
                             accept();
                           });
  }

  // Most likely out of descriptors: retry later.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds{100});
    pause_.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  void remember(const std::shared_ptr<Session>& session) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    std::erase_if(sessions_, [](const auto& known) { return known.expired(); });
    sessions_.push_back(session);
  }

  std::shared_ptr<Shared> shared_;
  int port_ = 0;
  Mutex mutex_;
  std::vector<std::weak_ptr<Session>> sessions_ GUARDED_BY(mutex_){};
  asio::io_context context_{};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::vector<std::thread> threads_{};
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      const Clock& clock, Handler handler) {
  auto impl = std::make_unique<Impl>(options, clock, std::move(handler));
  CHECK_DONE(impl->start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::stop() { impl_->stop(); }
int HttpServer::port() const { return impl_->port(); }
void HttpServer::wake(const std::set<std::string>& collections) { impl_->wake(collections); }

}  // namespace paddle::local
