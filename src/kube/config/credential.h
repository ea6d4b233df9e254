// SPDX-License-Identifier: Apache-2.0
//
// Who we are to the API server at this moment, and where that comes from. A source is thread-safe
// and asked before every request; it answers from memory unless the credential has changed or
// expired.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/config/config.h"

namespace paddle::kube {

// A secret; never printed. Empty fields are not used.
struct Credential {
  std::string token{};
  std::string username{};
  std::string password{};
  std::string cert_pem{};
  std::string key_pem{};
  std::optional<WallTime> expires{};
  bool operator==(const Credential&) const = default;
};

class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // May take as long as `timeout`: a plugin may have to run. kUnauthorized when there is none to
  // give.
  virtual Result<Credential> current(std::chrono::milliseconds timeout, std::stop_token stop) = 0;

  // The server did not accept `used` (401). True when asking current() again may give a better one.
  virtual bool refused(const Credential& used) = 0;
};

// The source that `config` describes.
std::unique_ptr<CredentialSource> credentials_of(const Config& config, const Clock& clock);

}  // namespace paddle::kube
