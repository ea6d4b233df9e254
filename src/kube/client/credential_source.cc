// SPDX-License-Identifier: Apache-2.0
#include "kube/client/credential_source.h"

#include <utility>

#include "kube/client/exec_source.h"
#include "kube/client/token_file.h"

namespace paddle::kube {
namespace {

// A credential that is part of the configuration.
class FixedCredential final : public CredentialSource {
 public:
  explicit FixedCredential(Credential credential) : credential_(std::move(credential)) {}
  Result<Credential> current(std::chrono::milliseconds, std::stop_token) override {
    return credential_;
  }
  bool refused(const Credential&) override { return false; }

 private:
  const Credential credential_;
};

}  // namespace

std::unique_ptr<CredentialSource> credentials_of(const Config& config, const Clock& clock) {
  if (!config.token_file.empty())
    return std::make_unique<TokenFile>(config.token_file, config.token);
  if (config.exec) return std::make_unique<ExecSource>(config, clock);
  return std::make_unique<FixedCredential>(
      Credential{.token = config.token, .username = config.username, .password = config.password});
}

}  // namespace paddle::kube
