// SPDX-License-Identifier: Apache-2.0
//
// The securityContext of a pod and a container, as far as one machine applies it: user and groups,
// capabilities, privileged, allowPrivilegeEscalation, readOnlyRootFilesystem, fsGroup. Profiles of
// seccomp, SELinux and AppArmor are ignored. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

// A set of Linux capabilities: bit N is capability N.
using Capabilities = std::uint64_t;

// The default of container runtimes, without MKNOD: there is no device cgroup here.
Capabilities default_capabilities();
constexpr Capabilities kAllCapabilities = ~Capabilities{0};

struct SecurityContext {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups{};      // supplementary, with fs_group
  std::optional<std::uint32_t> fs_group{};  // owns the pod's own volumes
  Capabilities capabilities = default_capabilities();
  bool privileged = false;         // all capabilities and devices
  bool no_new_privileges = false;  // allowPrivilegeEscalation: false
  bool read_only_root = false;
  bool operator==(const SecurityContext&) const = default;
};

// That of a container; fields that it does not have come from its pod. There is no image that could
// name a user: runAsNonRoot without runAsUser means kUnprivileged. kInvalid: a field that cannot be
// applied, with its path.
constexpr std::uint32_t kUnprivileged = 65534;
Result<SecurityContext> decode_security_context(const api::Json& pod_spec,
                                                const api::Json& container);

}  // namespace paddle::local
