// SPDX-License-Identifier: Apache-2.0
#include "net/test_server/scripted_server.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

namespace paddle::net {
namespace {

void must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_of(
    const std::optional<ScriptedServer::Tls>& tls) {
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context(nullptr, &SSL_CTX_free);
  if (!tls) return context;
  context.reset(SSL_CTX_new(TLS_server_method()));
  const auto cert_of = [](const std::string& text) {
    BIO* bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
    X509* cert = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    must(cert != nullptr, "read certificate");
    return std::unique_ptr<X509, void (*)(X509*)>(cert, &X509_free);
  };
  BIO* bio = BIO_new_mem_buf(tls->server.key.data(), static_cast<int>(tls->server.key.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  must(SSL_CTX_use_certificate(context.get(), cert_of(tls->server.cert).get()) == 1, "certificate");
  must(SSL_CTX_use_PrivateKey(context.get(), key) == 1, "key");
  EVP_PKEY_free(key);
  if (!tls->client_ca.empty()) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), cert_of(tls->client_ca).get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

class SocketConnection final : public ScriptedConnection {
 public:
  SocketConnection(int fd, ssl_ctx_st* context) : fd_(fd), ssl_(nullptr, &SSL_free) {
    if (!context) return;
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), fd);
    open_ = SSL_accept(ssl_.get()) == 1;
  }

  bool open() const { return open_; }

  void send(std::string_view bytes) override {
    while (open_ && !bytes.empty()) {
      const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        open_ = false;
      } else {
        bytes.remove_prefix(static_cast<size_t>(sent));
      }
    }
  }

  void close() override {
    if (ssl_ && open_) SSL_shutdown(ssl_.get());
    shutdown(fd_, SHUT_RDWR);
    open_ = false;
  }

  void reset() override {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    // shutdown() would send FIN; disconnecting a stream socket with linger 0 sends RST.
    sockaddr none{};
    none.sa_family = AF_UNSPEC;
    (void)connect(fd_, &none, sizeof none);
    open_ = false;
  }

  void wait_for_peer() override {
    std::string ignored;
    while (open_ && more(ignored)) {
    }
  }

  bool more(std::string& into) {
    char piece[16384];
    const auto got = ssl_ ? SSL_read(ssl_.get(), piece, sizeof piece)
                          : static_cast<int>(recv(fd_, piece, sizeof piece, 0));
    if (got <= 0) {
      open_ = false;
      return false;
    }
    into.append(piece, static_cast<size_t>(got));
    return true;
  }

 private:
  const int fd_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  bool open_ = true;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Reads one request; what follows it stays in `pending`.
std::optional<ReceivedRequest> read_request(SocketConnection& connection, std::string& pending) {
  size_t end = 0;
  while ((end = pending.find("\r\n\r\n")) == std::string::npos) {
    if (!connection.more(pending)) return std::nullopt;
  }
  const std::string head = pending.substr(0, end + 2);
  pending.erase(0, end + 4);
  ReceivedRequest seen;
  const size_t first = head.find(' '), second = head.find(' ', first + 1);
  seen.method = head.substr(0, first);
  seen.target = head.substr(first + 1, second - first - 1);
  for (size_t at = head.find("\r\n") + 2; at < head.size();) {
    const size_t line_end = head.find("\r\n", at), colon = head.find(':', at);
    seen.headers[lower(head.substr(at, colon - at))] =
        head.substr(std::min(colon + 2, line_end), line_end - std::min(colon + 2, line_end));
    at = line_end + 2;
  }
  const auto length = seen.headers.find("content-length");
  const size_t size = length == seen.headers.end() ? 0 : std::stoul(length->second);
  while (pending.size() < size) {
    if (!connection.more(pending)) return std::nullopt;
  }
  seen.body = pending.substr(0, size);
  pending.erase(0, size);
  return seen;
}

}  // namespace

void ScriptedConnection::reply(int status, std::string_view body,
                               const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Said So\r\n";
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  text += "\r\n";
  text += body;
  send(text);
}

void ScriptedConnection::begin_chunks() {
  send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void ScriptedConnection::chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  send(size + std::string(bytes) + "\r\n");
}

void ScriptedConnection::end_chunks() { send("0\r\n\r\n"); }

ScriptedServer::ScriptedServer(Script script, const std::optional<Tls>& tls, On where)
    : script_(std::move(script)),
      context_(context_of(tls)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(where == On::kLoopback ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t size = sizeof address;
  must(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  must(listen(listener_.get(), 64) == 0, "listen");
  must(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0, "port");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_loop(); });
}

ScriptedServer::~ScriptedServer() {
  std::vector<std::jthread> threads;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    for (const auto& socket : sockets_) shutdown(socket.get(), SHUT_RDWR);
  }
  acceptor_.join();
  {
    const Lock lock(mutex_);
    threads.swap(threads_);
  }
  threads.clear();  // joins
}

std::string ScriptedServer::url(const std::string& host) const {
  return (context_ ? "https://" : "http://") + host + ":" + std::to_string(port_);
}

std::vector<ReceivedRequest> ScriptedServer::seen() {
  const Lock lock(mutex_);
  return seen_;
}

int ScriptedServer::connections() {
  const Lock lock(mutex_);
  return static_cast<int>(sockets_.size());
}

void ScriptedServer::accept_loop() {
  for (;;) {
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    const int fd = socket.get();
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const Lock lock(mutex_);
    if (stopping_) return;
    const int number = static_cast<int>(sockets_.size());
    sockets_.push_back(std::move(socket));
    threads_.emplace_back([this, fd, number] { serve(fd, number); });
  }
}

void ScriptedServer::serve(int fd, int number) {
  SocketConnection connection(fd, context_.get());
  std::string pending;
  while (connection.open()) {
    auto request = read_request(connection, pending);
    if (!request) break;
    request->connection = number;
    {
      const Lock lock(mutex_);
      seen_.push_back(*request);
    }
    script_(*request, connection);
  }
  shutdown(fd, SHUT_RDWR);  // the descriptor itself lives as long as the server
}

}  // namespace paddle::net
