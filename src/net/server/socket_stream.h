// SPDX-License-Identifier: Apache-2.0
//
// Bytes of one accepted socket, in the clear or over TLS. Never blocks and raises no signal: a call
// that has to wait says for what. Owned by one thread.

#pragma once

#include <memory>

#include <sys/types.h>

#include "net/server/tls_context.h"

typedef struct ssl_st SSL;

namespace paddle::net {

class SocketStream {
 public:
  // Bytes; 0: the peer has ended; kFailed; or what poll() has to wait for.
  enum : ssize_t { kFailed = -1, kWantsRead = -2, kWantsWrite = -3 };

  virtual ~SocketStream() = default;
  virtual ssize_t read(char* into, std::size_t size) = 0;
  virtual ssize_t write(const char* from, std::size_t size) = 0;
  virtual bool has_buffered() const = 0;  // that were received and not read yet
  virtual void send_close_notify() = 0;
};

// Both borrow the socket.
std::unique_ptr<SocketStream> plain_stream(int socket);
std::unique_ptr<SocketStream> tls_stream(int socket, std::shared_ptr<SSL_CTX> context);

}  // namespace paddle::net
