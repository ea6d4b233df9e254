// SPDX-License-Identifier: Apache-2.0
//
// A TCP relay on loopback that counts the bytes that the server sends through it.

#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>

#include "base/unique_fd.h"

namespace paddle::test {

class CountingProxy {
 public:
  explicit CountingProxy(int target_port);
  ~CountingProxy();

  int port() const { return port_; }
  std::int64_t bytes() const { return bytes_; }  // from the server, since the start

 private:
  void accept_all(const std::stop_token& stop);
  void relay(const std::stop_token& stop, UniqueFd client);

  const int target_port_;
  int port_ = 0;
  UniqueFd listener_;
  std::atomic<std::int64_t> bytes_{0};
  std::list<std::jthread> served_{};  // of the accepting thread only
  std::jthread acceptor_;
};

}  // namespace paddle::test
