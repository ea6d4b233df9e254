// SPDX-License-Identifier: Apache-2.0
//
// One accepted socket as httplib's Stream, with limits that httplib lacks: a deadline for the
// header and one for the rest of the exchange, a limit of bytes read, and an end when the server
// stops. Used by one thread.

#pragma once

#include <chrono>
#include <string>

#include <httplib.h>

#include "base/clock.h"
#include "net/server/socket_stream.h"

namespace paddle::net {

// Takes the header Range out of a request, by giving it another name: ranges are not supported, and
// httplib would match it with a std::regex, which recurses for each character, before the caller is
// known.
class RangeMask {
 public:
  // The next character of the request line or of a header.
  char next(char c);

 private:
  int matched_ = -1;  // characters of the name at the beginning of this line; -1: another name
};

class Connection final : public httplib::Stream {
 public:
  // `stop_fd` becomes readable when the server stops. Borrows socket, stream and stop_fd.
  Connection(int socket, SocketStream& stream, int stop_fd, BootTime deadline, size_t read_limit)
      : socket_(socket),
        stream_(stream),
        stop_fd_(stop_fd),
        deadline_(deadline),
        read_limit_(read_limit) {}

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* into, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }
  // The header has been read: the rest has a deadline of its own.
  void begin(BootTime deadline) {
    deadline_ = deadline;
    in_header_ = false;
  }
  bool has_unread() const { return used_ < filled_ || stream_.has_buffered(); }

 private:
  bool wait(short events) const;
  template <typename Step>
  ssize_t until_done(Step step);

  const int socket_;
  SocketStream& stream_;
  const int stop_fd_;
  BootTime deadline_;
  const size_t read_limit_;
  bool in_header_ = true;
  RangeMask mask_{};
  size_t received_ = 0;
  char buffer_[4096];
  size_t used_ = 0, filled_ = 0;
};

}  // namespace paddle::net
