// SPDX-License-Identifier: Apache-2.0
//
// The bytes of one accepted socket, plain or over TLS. Never blocks and raises no signal: a call
// that would block returns what to wait for. Used by one thread.

#pragma once

#include <memory>

#include <sys/types.h>

#include "net/server/tls_context.h"

typedef struct ssl_st SSL;

namespace paddle::net {

class SocketStream {
 public:
  // The number of bytes; 0: end of the stream; kFailed; or what poll() has to wait for.
  enum : ssize_t { kFailed = -1, kWantsRead = -2, kWantsWrite = -3 };

  virtual ~SocketStream() = default;
  virtual ssize_t read(char* into, std::size_t size) = 0;
  virtual ssize_t write(const char* from, std::size_t size) = 0;
  virtual bool has_buffered() const = 0;  // bytes that were received and not read yet
  virtual void send_close_notify() = 0;
};

// Both borrow the socket.
std::unique_ptr<SocketStream> plain_stream(int socket);
std::unique_ptr<SocketStream> tls_stream(int socket, std::shared_ptr<SSL_CTX> context);

}  // namespace paddle::net
