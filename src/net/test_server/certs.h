// SPDX-License-Identifier: Apache-2.0
//
// Certificates made on the spot, for tests. PEM texts; EC keys, so that making one costs little.
// A failure inside OpenSSL ends the program: a test can not go on without its certificates.

#pragma once

#include <string>
#include <vector>

namespace paddle::net {

struct Pair {
  std::string cert{};
  std::string key{};
};

struct Leaf {
  std::string common_name = "server";
  std::vector<std::string> organizations{};  // groups, to the API server
  std::string san = "IP:127.0.0.1,DNS:localhost";
  bool client = false;
  long valid_from = -3600;  // seconds from now
  long valid_to = 3600;
};

Pair make_ca(const std::string& name);
Pair make_leaf(const Pair& ca, const Leaf& leaf);

}  // namespace paddle::net
