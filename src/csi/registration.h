// SPDX-License-Identifier: Apache-2.0
//
// The values of a driver's registration with kubelet, and the rules for names and paths. Pure.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::csi {

// The driver's answer to GetPluginInfo.
struct DriverInfo {
  std::string name{};
  std::string version{};
  bool operator==(const DriverInfo&) const = default;
};

// The answer to kubelet's GetInfo.
struct Registration {
  std::string name{};
  std::string endpoint{};  // path of the driver's socket as kubelet sees it
  std::vector<std::string> versions{"1.0.0"};
  bool operator==(const Registration&) const = default;
};

// kubelet's notification after it tried to register the driver.
struct RegistrationStatus {
  bool registered = false;
  std::string error{};
  bool operator==(const RegistrationStatus&) const = default;
};

// The two names of our socket in kubelet's registry: it is created under the hidden one, which
// kubelet ignores, and then renamed.
struct RegistryPaths {
  std::string hidden{};
  std::string shown{};
  bool operator==(const RegistryPaths&) const = default;
};

// kInvalid for a name that CSI does not allow (it becomes part of a path), and for paths that are
// too long for a unix socket.
Result<RegistryPaths> registry_paths(const std::string& registry, const std::string& driver);

// kInvalid unless `path` is absolute and short enough for a unix socket; `flag` is for the error
// message.
Result<> check_socket_path(const std::string& flag, const std::string& path);

}  // namespace paddle::csi
