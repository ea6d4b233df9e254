// SPDX-License-Identifier: Apache-2.0
#include "test/support/ports.h"

#include <set>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace paddle::test {
namespace {

bool can_listen(int port, bool reuse) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = reuse ? 1 : 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

TEST(ReservedPort, IsReservedForItsServerOverRestarts) {
  const auto port = ReservedPort::any();
  ASSERT_TRUE(port);
  for (int restart = 0; restart < 3; ++restart) {
    EXPECT_FALSE(can_listen(port->number(), false)) << "a stranger took the port";
    EXPECT_TRUE(can_listen(port->number(), true)) << "the server did not get its port";
  }
}

TEST(ReservedPort, IsNeverGivenTwice) {
  std::vector<ReservedPort> held;
  std::set<int> numbers;
  for (int i = 0; i < 200; ++i) {
    auto port = ReservedPort::any();
    ASSERT_TRUE(port);
    EXPECT_TRUE(numbers.insert(port->number()).second);
    held.push_back(*std::move(port));
  }
}

}  // namespace
}  // namespace paddle::test
