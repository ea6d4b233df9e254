// SPDX-License-Identifier: Apache-2.0
//
// The identity under which the process of a pod takes part in an election: the pod's name and uid.
//
// It survives a restart of the container, so that the next process finds its own identity in the
// lease and leads immediately, instead of waiting until the lease of a dead process has expired.
// This is safe as long as one running process has the identity: it holds a socket whose name
// contains the uid, which is unique in the pod's network namespace and which the kernel frees with
// the process. A second process of the pod (another container, `kubectl exec`) does not get it, and
// uses a random identity.

#pragma once

#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace paddle::kube {

class PodIdentity {
 public:
  // Nullopt without a name or uid (not in a pod), or while another process has the identity.
  static std::optional<PodIdentity> claim(const std::string& pod_name, const std::string& pod_uid);

  const std::string& text() const { return text_; }  // ours as long as this object exists

 private:
  PodIdentity(std::string text, UniqueFd held) : text_(std::move(text)), held_(std::move(held)) {}

  std::string text_;
  UniqueFd held_;
};

}  // namespace paddle::kube
