// SPDX-License-Identifier: Apache-2.0
//
// Credentials that are simply there: in the configuration, or in a file that somebody rotates (the
// kubelet renews a pod's token while the pod runs). The file is looked at before every request (one
// stat) and read again when it has changed.

#pragma once

#include <sys/stat.h>

#include "base/sync.h"
#include "kube/config/credential.h"

namespace paddle::kube {

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

// When the file can not be read, the last token that could be is used, or else `fallback`.
class TokenFile final : public CredentialSource {
 public:
  explicit TokenFile(std::string path, std::string fallback = {})
      : path_(std::move(path)), token_(std::move(fallback)) {}
  Result<Credential> current(std::chrono::milliseconds, std::stop_token) override EXCLUDES(mutex_);
  bool refused(const Credential& used) override EXCLUDES(mutex_);

 private:
  Result<> read() REQUIRES(mutex_);

  const std::string path_;
  Mutex mutex_;
  std::string token_ GUARDED_BY(mutex_);
  struct stat seen_ GUARDED_BY(mutex_) {};  // of the file that token_ was read from
};

}  // namespace paddle::kube
