// SPDX-License-Identifier: Apache-2.0
//
// Makes keys (ECDSA P-256) and certificates, as PEM texts. Secure randomness comes from OpenSSL;
// everything else is an argument. Thread-safe.

#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::tls {

struct Identity {
  std::string certificate{};  // PEM
  std::string key{};          // PEM; a secret
};

struct Validity {
  WallTime from{};
  WallTime until{};
  bool operator==(const Validity&) const = default;
};

struct Subject {
  std::string common_name{};
  std::string names{};  // of a server: "DNS:localhost,IP:127.0.0.1"; empty: not a server
  Validity valid{};
  bool authority = false;  // may sign other certificates
};

Result<Identity> make_self_signed(const Subject& subject);
Result<Identity> make_signed(const Subject& subject, const Identity& authority);

// The validity of the first certificate in the text; kInvalid when there is none.
Result<Validity> validity_of(const std::string& certificate);
// Only the first certificate in the text; empty when there is none.
std::string first_certificate(const std::string& text);

// Random bytes as hexadecimal digits; for tokens.
Result<std::string> random_hex(std::size_t bytes);

}  // namespace paddle::tls
