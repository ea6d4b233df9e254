// SPDX-License-Identifier: Apache-2.0
//
// A loopback port chosen by the kernel and held for as long as this object lives.
//
// The socket is bound and never listens. Bound, it keeps the kernel from giving the port to
// anybody else (to bind(0) or to an outgoing connection), also while the server it belongs to is
// down between two starts. Not listening and with SO_REUSEADDR, it lets a server that sets
// SO_REUSEADDR (every Go program, ours too) listen on the same port beside it.

#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::test {

class ReservedPort {
 public:
  static Result<ReservedPort> any();
  int number() const { return number_; }

 private:
  ReservedPort(UniqueFd socket, int number) : socket_(std::move(socket)), number_(number) {}
  UniqueFd socket_;
  int number_;
};

}  // namespace paddle::test
