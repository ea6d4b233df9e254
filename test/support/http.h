// SPDX-License-Identifier: Apache-2.0
//
// The few HTTP calls that test support makes itself (readiness, etcd's gateway). Deliberately
// without net/: the support of net's own tests must not depend on net.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::test {

struct HttpCall {
  std::string url{};
  std::string body{};     // POST when there is one
  std::string ca_path{};  // https is always verified
  std::string token{};
};
struct HttpAnswer {
  long status = 0;
  std::string body{};
};
Result<HttpAnswer> call(const HttpCall& request);

}  // namespace paddle::test
