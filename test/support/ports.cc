// SPDX-License-Identifier: Apache-2.0
#include "test/support/ports.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace paddle::test {

Result<ReservedPort> ReservedPort::any() {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const int yes = 1;
  // SO_REUSEADDR is set after bind: at that time the port must not be in use.
  if (::bind(socket.get(), plain, size) < 0 || ::getsockname(socket.get(), plain, &size) < 0 ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0) {
    return Error{Code::kUnavailable, std::string("hold a port: ") + std::strerror(errno)};
  }
  return ReservedPort(std::move(socket), ntohs(address.sin_port));
}

}  // namespace paddle::test
