// SPDX-License-Identifier: Apache-2.0
//
// Certificates for tests, made when they are needed. PEM texts; EC keys, because they are cheap to
// make. A failure of OpenSSL ends the program: a test cannot continue without its certificates.

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
  std::vector<std::string> organizations{};  // groups, for the API server
  std::string san = "IP:127.0.0.1,DNS:localhost";
  bool client = false;
  long valid_from = -3600;  // seconds from now
  long valid_to = 3600;
};

Pair make_ca(const std::string& name);
Pair make_leaf(const Pair& ca, const Leaf& leaf);

}  // namespace paddle::net
