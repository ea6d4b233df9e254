// SPDX-License-Identifier: Apache-2.0
//
// What is said when a driver is registered with kubelet, as values, and the rules for names and
// paths. Pure.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::csi {

// What a driver says of itself.
struct DriverInfo {
  std::string name{};
  std::string version{};
  bool operator==(const DriverInfo&) const = default;
};

// What kubelet is told.
struct Registration {
  std::string name{};
  std::string endpoint{};  // path of the driver's socket as kubelet sees it
  std::vector<std::string> versions{"1.0.0"};
  bool operator==(const Registration&) const = default;
};

// What kubelet says after it has tried.
struct RegistrationStatus {
  bool registered = false;
  std::string error{};
  bool operator==(const RegistrationStatus&) const = default;
};

// The two names of our socket in kubelet's registry: it is made ready under the hidden one, which
// kubelet passes over, and then takes the other.
struct RegistryPaths {
  std::string hidden{};
  std::string shown{};
  bool operator==(const RegistryPaths&) const = default;
};

// kInvalid for a name that the interface does not allow (it becomes part of a path), and for paths
// that no unix socket can have.
Result<RegistryPaths> registry_paths(const std::string& registry, const std::string& driver);

// kInvalid unless `path` is absolute and short enough for a unix socket; `flag` is for the
// sentence.
Result<> check_socket_path(const std::string& flag, const std::string& path);

}  // namespace paddle::csi
