// SPDX-License-Identifier: Apache-2.0
//
// A bearer token in a file that is rotated by another program: the kubelet renews a pod's token
// while the pod runs. Every call checks the file with one stat() and reads it again when it has
// changed.

#pragma once

#include <string>
#include <utility>

#include <sys/stat.h>

#include "base/sync.h"
#include "kube/client/credential_source.h"

namespace paddle::kube {

// When the file cannot be read, the last token that was read is used, or else `fallback`.
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
