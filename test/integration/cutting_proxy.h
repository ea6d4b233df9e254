// SPDX-License-Identifier: Apache-2.0
//
// A TCP proxy on loopback that breaks connections in the middle of what the server sends. TLS
// passes through unchanged, so the client verifies the real server.
//
// Each connection gets a budget of bytes from the server, drawn from the seed; when a piece exceeds
// the remaining budget, the proxy forwards the first part of that piece and resets both sides, so
// that the client has an incomplete record. After calm() everything passes. Thread-safe.

#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "base/random.h"
#include "base/result.h"
#include "base/sync.h"
#include "base/unique_fd.h"

namespace paddle::test {

class CuttingProxy {
 public:
  // Forwards to 127.0.0.1:target_port.
  static Result<std::unique_ptr<CuttingProxy>> start(int target_port, std::uint64_t seed);
  ~CuttingProxy();

  int port() const { return port_; }
  size_t connections() const { return connections_; }
  // Connections broken within a piece, after the TLS handshake was through.
  size_t cuts() const { return cuts_; }
  void calm() { calm_ = true; }

 private:
  CuttingProxy(UniqueFd listener, int port, int target_port, std::uint64_t seed);
  void accept_all(std::stop_token stop);
  void serve(std::stop_token stop, UniqueFd client, size_t budget);
  size_t draw_budget();

  const UniqueFd listener_;
  const int port_;
  const int target_port_;
  Random random_;
  std::atomic<size_t> connections_ = 0;
  std::atomic<size_t> cuts_ = 0;
  std::atomic<bool> calm_ = false;
  std::list<std::jthread> served_{};  // of the accepting thread only
  std::jthread acceptor_{};
};

}  // namespace paddle::test
