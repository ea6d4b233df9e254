// SPDX-License-Identifier: Apache-2.0
//
// A TCP relay that can be shut: while shut it accepts connections and forwards nothing, like a
// network that drops packets. Opening it ends every connection that was delayed and drops the bytes
// it had kept, so that nothing sent while it was shut arrives later.

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace paddle::test {

class TcpGate {
 public:
  explicit TcpGate(int target_port);  // on loopback
  ~TcpGate();

  int port() const { return port_; }
  void shut() { shut_ = true; }
  void open() { shut_ = false; }

 private:
  struct Pair {
    UniqueFd client{}, server{};
    bool ended = false;
  };
  void run(std::stop_token stop);
  static bool forward(const UniqueFd& from, const UniqueFd& to);

  const int target_port_;
  int port_ = 0;
  UniqueFd listener_;
  std::atomic<bool> shut_{false};
  std::vector<Pair> pairs_;  // of the thread
  std::jthread thread_;
};

}  // namespace paddle::test
