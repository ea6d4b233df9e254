// SPDX-License-Identifier: Apache-2.0
#include "test/integration/cutting_proxy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace paddle::test {
namespace {

constexpr size_t kHandshake = 6'000;  // more than a server sends before the first answer
constexpr int kLookUpMs = 100;        // how often a quiet connection looks at the stop token

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Error failed(const char* what) {
  return {Code::kUnavailable, std::string(what) + ": " + std::strerror(errno)};
}

void reset_on_close(int fd) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

bool send_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<CuttingProxy>> CuttingProxy::start(int target_port, std::uint64_t seed) {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) return failed("socket");
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener.get(), 64) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return failed("listen");
  }
  std::unique_ptr<CuttingProxy> made(
      new CuttingProxy(std::move(listener), ntohs(address.sin_port), target_port, seed));
  made->acceptor_ =
      std::jthread([proxy = made.get()](std::stop_token stop) { proxy->accept_all(stop); });
  return made;
}

CuttingProxy::CuttingProxy(UniqueFd listener, int port, int target_port, std::uint64_t seed)
    : listener_(std::move(listener)), port_(port), target_port_(target_port), random_(seed) {}

CuttingProxy::~CuttingProxy() {
  acceptor_.request_stop();
  acceptor_.join();
  for (auto& thread : served_) thread.request_stop();
}

// Mostly a few events; now and then enough for a whole list.
size_t CuttingProxy::draw_budget() {
  if (random_.below(12) == 0) return kHandshake + 50'000 + random_.below(30'000);
  return kHandshake + random_.below(4'000);
}

void CuttingProxy::accept_all(std::stop_token stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kLookUpMs) <= 0) continue;
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    ++connections_;
    served_.emplace_back([this, fd = client.release(), budget = draw_budget()](
                             std::stop_token ending) { serve(ending, UniqueFd(fd), budget); });
  }
}

void CuttingProxy::serve(std::stop_token stop, UniqueFd client, size_t budget) {
  reset_on_close(client.get());
  UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(target_port_);
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return;
  }
  size_t passed = 0;
  std::array<char, 16'384> buffer{};
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> waiting{pollfd{client.get(), POLLIN, 0}, pollfd{server.get(), POLLIN, 0}};
    if (::poll(waiting.data(), 2, kLookUpMs) < 0) return;
    if (waiting[0].revents != 0) {
      const ssize_t got = ::recv(client.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0 || !send_all(server.get(), buffer.data(), static_cast<size_t>(got))) return;
    }
    if (waiting[1].revents != 0) {
      const ssize_t got = ::recv(server.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      const size_t size = static_cast<size_t>(got);
      const bool cut = !calm_ && passed + size > budget;
      const size_t part = cut ? budget - std::min(budget, passed) : size;
      if (!send_all(client.get(), buffer.data(), part)) return;
      passed += part;
      if (cut) {
        ++cuts_;
        return;
      }
    }
  }
}

}  // namespace paddle::test
