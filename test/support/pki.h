// SPDX-License-Identifier: Apache-2.0
//
// A certificate authority for one test: made in memory, ECDSA P-256, valid for one day before and
// after now. Keys are for tests only and never leave the test's private directory.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::test {

struct Certificate {
  std::string certificate{};  // PEM
  std::string key{};          // PEM, PKCS #8
};

enum class Validity { kNow, kExpired };

class Authority {
 public:
  static Result<Authority> create(const std::string& name);

  const std::string& certificate() const { return own_.certificate; }

  // Alternative names in OpenSSL's notation: "IP:127.0.0.1", "DNS:localhost".
  Result<Certificate> server(const std::vector<std::string>& names,
                             Validity validity = Validity::kNow) const;
  // The API server takes the common name as the user and each organization as a group.
  Result<Certificate> client(const std::string& user, const std::vector<std::string>& groups,
                             Validity validity = Validity::kNow) const;

 private:
  explicit Authority(Certificate own) : own_(std::move(own)) {}
  Certificate own_;
};

struct KeyPair {
  std::string public_key{};   // PEM
  std::string private_key{};  // PEM
};
// For signing service-account tokens.
Result<KeyPair> new_key_pair();

}  // namespace paddle::test
