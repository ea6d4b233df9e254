// SPDX-License-Identifier: Apache-2.0
//
// A loopback port that the kernel chooses, reserved for as long as this object exists.
//
// The socket is bound and never listens. Because it is bound, the kernel gives the port to no other
// process (by bind(0) or to an outgoing connection), not even while its server is down between two
// starts. Because it does not listen and has SO_REUSEADDR, a server that sets SO_REUSEADDR (every
// Go program, and ours) can listen on the same port beside it.

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
