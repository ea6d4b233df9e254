// SPDX-License-Identifier: Apache-2.0
//
// Where the credential of each request comes from. A source is thread-safe and is called before
// every request; it answers from memory unless the credential has changed or expired.

#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/result.h"
#include "kube/config/config.h"
#include "kube/config/exec_credential.h"

namespace paddle::kube {

class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // May take as long as `timeout`, because a plugin may have to run. kUnauthorized when there is no
  // credential.
  virtual Result<Credential> current(std::chrono::milliseconds timeout, std::stop_token stop) = 0;

  // The server did not accept `used` (401). True when current() may return another one now.
  virtual bool refused(const Credential& used) = 0;
};

// The source that `config` describes.
std::unique_ptr<CredentialSource> credentials_of(const Config& config, const Clock& clock);

}  // namespace paddle::kube
