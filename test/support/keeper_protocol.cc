// SPDX-License-Identifier: Apache-2.0
#include "test/support/keeper_protocol.h"

#include <cerrno>

#include <sys/socket.h>

namespace paddle::test {
namespace {

constexpr size_t kLargestPacket = 128UL * 1024;  // below the default send buffer of a unix socket

}  // namespace

bool send_packet(int socket, const Packet& packet) {
  std::string bytes;
  for (const auto& field : packet) bytes.append(field).push_back('\0');
  if (bytes.size() > kLargestPacket) return false;
  ssize_t sent = 0;
  do {
    sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

std::optional<Packet> receive_packet(int socket) {
  std::string bytes(kLargestPacket, '\0');
  ssize_t got = 0;
  do {
    got = ::recv(socket, bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  Packet packet;
  for (size_t at = 0; at < static_cast<size_t>(got);) {
    const size_t end = bytes.find('\0', at);
    packet.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return packet;
}

}  // namespace paddle::test
