// SPDX-License-Identifier: Apache-2.0
//
// The protocol between a test and its keeper: packets on a SOCK_SEQPACKET pair, each a list of
// strings. One request, one response; a response starts with "ok" or "error".
//
//   spawn <log> <directory> <argc> <argv...> <env...>  -> ok <pid>
//   signal <pid> <number>                              -> ok
//   status <pid>                                       -> ok running | ok ended <code> <signal>
//   scrap <base>      a directory under base, removed in any case         -> ok <path>
//   failed            keep the private directory with the logs            -> ok
//   bye               end everything                                      -> ok, then EOF

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paddle::test {

using Packet = std::vector<std::string>;

// False when the peer is gone or the packet is too large for one send.
bool send_packet(int socket, const Packet& packet);
// Nullopt at the end of the connection. Fields cannot contain NUL.
std::optional<Packet> receive_packet(int socket);

}  // namespace paddle::test
