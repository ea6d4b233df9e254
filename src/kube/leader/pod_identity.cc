// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/pod_identity.h"

#include <cstddef>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

namespace paddle::kube {
namespace {

// An abstract name: it begins with a zero byte and belongs to the network namespace, not to a file.
bool bind_to(int socket, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) return false;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0;
}

}  // namespace

std::optional<PodIdentity> PodIdentity::claim(const std::string& pod_name,
                                              const std::string& pod_uid) {
  if (pod_name.empty() || pod_uid.empty()) return std::nullopt;
  UniqueFd held(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!held || !bind_to(held.get(), "paddle-operator/" + pod_uid)) return std::nullopt;
  return PodIdentity(pod_name + "_" + pod_uid, std::move(held));
}

}  // namespace paddle::kube
