// SPDX-License-Identifier: Apache-2.0
#include "csi/test_sockets.h"

#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace paddle::csi {

UnresponsiveSocket::UnresponsiveSocket(const std::string& path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd_, 8) != 0) {
    std::abort();
  }
}

UnresponsiveSocket::~UnresponsiveSocket() { ::close(fd_); }

}  // namespace paddle::csi
