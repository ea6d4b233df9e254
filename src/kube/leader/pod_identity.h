// SPDX-License-Identifier: Apache-2.0
//
// The name under which a pod's process stands for election: the pod's name and uid.
//
// It survives a restart of the container, so the successor finds its own name in the lease and
// leads at once, instead of waiting until the lease of somebody who is dead has passed. Safe as
// long as one living process has the name: whoever has it holds a socket that the pod's network
// namespace knows by the uid, and that the kernel frees with the process, not before. A second
// process of the pod (another container, `kubectl exec`) does not get it, and stands under a random
// name.

#pragma once

#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace paddle::kube {

class PodIdentity {
 public:
  // Nothing without a name or uid (not in a pod), or while another process has it.
  static std::optional<PodIdentity> claim(const std::string& pod_name, const std::string& pod_uid);

  const std::string& text() const { return text_; }  // ours as long as this object lives

 private:
  PodIdentity(std::string text, UniqueFd held) : text_(std::move(text)), held_(std::move(held)) {}

  std::string text_;
  UniqueFd held_;
};

}  // namespace paddle::kube
