// SPDX-License-Identifier: Apache-2.0
//
// Credentials from a plugin, kept until they expire or the server refuses them. The plugin runs at
// most once at a time for any number of callers, and not again within a second after a failure. No
// lock is held while it runs.

#pragma once

#include "base/sync.h"
#include "kube/client/credential_source.h"

namespace paddle::kube {

class ExecSource final : public CredentialSource {
 public:
  // config.exec is set.
  ExecSource(Config config, const Clock& clock) : config_(std::move(config)), clock_(clock) {}

  Result<Credential> current(std::chrono::milliseconds timeout, std::stop_token stop) override
      EXCLUDES(mutex_);
  bool refused(const Credential& used) override EXCLUDES(mutex_);

 private:
  Result<Credential> run_plugin(std::chrono::milliseconds timeout, std::stop_token stop) const;
  bool fresh() const REQUIRES(mutex_);

  const Config config_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar done_;
  bool running_ GUARDED_BY(mutex_) = false;
  std::optional<Credential> credential_ GUARDED_BY(mutex_);
  WallTime obtained_ GUARDED_BY(mutex_){};
  std::optional<Error> failure_ GUARDED_BY(mutex_);
  BootTime failed_at_ GUARDED_BY(mutex_){};
};

}  // namespace paddle::kube
