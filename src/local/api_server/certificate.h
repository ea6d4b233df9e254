// SPDX-License-Identifier: Apache-2.0
//
// The server's certificate: made once, self-signed, its own root. Clients are given it to verify
// the server by (kubectl sends a token over TLS only). Key and certificate live in one private
// file.

#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::local {

struct ServingCertificate {
  std::string certificate{};  // PEM
  std::string key{};          // PEM; a secret
};

// ECDSA P-256, valid for ten years, for localhost, 127.0.0.1, ::1 and `address`.
Result<ServingCertificate> make_serving_certificate(const std::string& address, WallTime now);

// The one in <directory>/server.pem, made when it is not there.
Result<ServingCertificate> load_serving_certificate(const std::string& directory,
                                                    const std::string& address, WallTime now);

}  // namespace paddle::local
