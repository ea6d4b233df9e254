// SPDX-License-Identifier: Apache-2.0
//
// What a test and its keeper say to each other: packets on a SOCK_SEQPACKET pair, each a list of
// strings. One request, one answer; an answer starts with "ok" or "error".
//
//   spawn <log> <directory> <argc> <argv...> <env...>  -> ok <pid>
//   signal <pid> <number>                              -> ok
//   status <pid>                                       -> ok running | ok ended <code> <signal>
//   scrap <base>      a directory under base, removed in any case         -> ok <path>
//   failed            keep the private directory: somebody will read the logs  -> ok
//   bye               end everything                                      -> ok, then EOF

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paddle::test {

using Packet = std::vector<std::string>;

// False when the other side is gone or the packet is too large for one send.
bool send_packet(int socket, const Packet& packet);
// Nothing at the end of the conversation. Fields can not contain NUL.
std::optional<Packet> receive_packet(int socket);

}  // namespace paddle::test
