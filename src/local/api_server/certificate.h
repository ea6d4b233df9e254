// SPDX-License-Identifier: Apache-2.0
//
// The server's certificate: created once, self-signed, its own root. Clients verify the server with
// it (kubectl sends a token over TLS only). Key and certificate are in one private file.

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

// Loads <directory>/server.pem; creates it if it does not exist.
Result<ServingCertificate> load_serving_certificate(const std::string& directory,
                                                    const std::string& address, WallTime now);

}  // namespace paddle::local
