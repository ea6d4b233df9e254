// SPDX-License-Identifier: Apache-2.0
#include "net/server/socket_stream.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace paddle::net {
namespace {

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

class PlainWire final : public SocketStream {
 public:
  explicit PlainWire(int socket) : socket_(socket) {}

  ssize_t read(char* into, std::size_t size) override {
    const ssize_t got = ::recv(socket_, into, size, MSG_DONTWAIT);
    if (got >= 0) return got;
    return would_wait() ? ssize_t{kWantsRead} : ssize_t{kFailed};
  }
  ssize_t write(const char* from, std::size_t size) override {
    const ssize_t put = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) return put;
    return would_wait() ? ssize_t{kWantsWrite} : ssize_t{kFailed};
  }
  bool has_buffered() const override { return false; }
  void send_close_notify() override {}

 private:
  const int socket_;
};

// OpenSSL's own socket BIO blocks with the socket and raises SIGPIPE.
int bio_write(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const int socket = static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
  const ssize_t put =
      ::send(socket, from, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (put < 0 && would_wait()) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

int bio_read(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const int socket = static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
  const ssize_t got = ::recv(socket, into, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got < 0 && would_wait()) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* socket_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return kMethod;
}

class TlsWire final : public SocketStream {
 public:
  TlsWire(int socket, std::shared_ptr<SSL_CTX> context)
      : context_(std::move(context)), ssl_(SSL_new(context_.get()), SSL_free) {
    BIO* bio = ssl_ ? BIO_new(socket_method()) : nullptr;
    if (!bio) {
      ssl_.reset();
      return;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): never followed, it carries a descriptor
    BIO_set_data(bio, reinterpret_cast<void*>(std::intptr_t{socket}));
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);  // owns it
    SSL_set_accept_state(ssl_.get());   // the first read does the handshake
  }

  ssize_t read(char* into, std::size_t size) override {
    if (!ssl_) return kFailed;
    ERR_clear_error();
    return outcome(SSL_read(ssl_.get(), into, bounded(size)));
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (!ssl_) return kFailed;
    ERR_clear_error();
    return outcome(SSL_write(ssl_.get(), from, bounded(size)));
  }
  bool has_buffered() const override { return ssl_ && SSL_pending(ssl_.get()) > 0; }
  void send_close_notify() override {
    if (!ssl_ || failed_ || !SSL_is_init_finished(ssl_.get())) return;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

 private:
  static int bounded(std::size_t size) {
    return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
  }

  ssize_t outcome(int result) {
    if (result > 0) return result;
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return kWantsRead;
      case SSL_ERROR_WANT_WRITE:
        return kWantsWrite;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      default:
        ERR_clear_error();
        failed_ = true;
        return kFailed;
    }
  }

  const std::shared_ptr<SSL_CTX> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<SocketStream> plain_stream(int socket) {
  return std::make_unique<PlainWire>(socket);
}

std::unique_ptr<SocketStream> tls_stream(int socket, std::shared_ptr<SSL_CTX> context) {
  return std::make_unique<TlsWire>(socket, std::move(context));
}

}  // namespace paddle::net
