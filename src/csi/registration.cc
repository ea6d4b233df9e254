// SPDX-License-Identifier: Apache-2.0
#include "csi/registration.h"

#include <algorithm>

#include <sys/un.h>

namespace paddle::csi {
namespace {

constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;  // 107 characters and a NUL
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kShownInErrors = 150;

bool letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// CSI's rule: at most 63 characters, like a host name; a letter or a digit at both ends.
bool is_driver_name(const std::string& name) {
  if (name.empty() || name.size() > kLongestName) return false;
  if (!letter_or_digit(name.front()) || !letter_or_digit(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return letter_or_digit(c) || c == '.' || c == '-' || c == '_'; });
}

}  // namespace

Result<> check_socket_path(const std::string& flag, const std::string& path) {
  const std::string which = flag + "=" + path.substr(0, kShownInErrors);
  if (path.empty() || path.front() != '/') {
    return Error{Code::kInvalid, which + " is not an absolute path"};
  }
  if (path.size() > kLongestPath) {
    return Error{Code::kInvalid, which + " has " + std::to_string(path.size()) +
                                     " bytes, but the path of a unix socket has at most " +
                                     std::to_string(kLongestPath)};
  }
  return Done{};
}

Result<RegistryPaths> registry_paths(const std::string& registry, const std::string& driver) {
  if (!is_driver_name(driver)) {
    return Error{Code::kInvalid, "'" + driver.substr(0, kShownInErrors) +
                                     "' is not a valid name of a CSI driver: it must have 1 to 63 "
                                     "letters, digits, dots and dashes"};
  }
  const std::string file = driver + "-reg.sock";
  RegistryPaths paths{.hidden = registry + "/." + file, .shown = registry + "/" + file};
  CHECK_DONE(check_socket_path("the socket in --registry", paths.hidden));
  return paths;
}

}  // namespace paddle::csi
