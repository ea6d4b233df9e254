// SPDX-License-Identifier: Apache-2.0
//
// The protocol between us and a credential plugin: ExecCredential of client.authentication.k8s.io,
// v1 and v1beta1; and the credential that it results in. Pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kube/config/config.h"

namespace paddle::kube {

// What authenticates one request. A secret; never printed. Empty fields are not used.
struct Credential {
  std::string token{};
  std::string username{};
  std::string password{};
  std::string cert_pem{};
  std::string key_pem{};
  std::optional<WallTime> expires{};
  bool operator==(const Credential&) const = default;
};

// The text of KUBERNETES_EXEC_INFO. `ca_pem` is what config.tls.ca_file holds, if that is how the
// CA is given. The plugin never gets a terminal: spec.interactive is false.
std::string exec_info(const Config& config, const ExecPlugin& plugin, const std::string& ca_pem);

// kUnauthorized with the reason when `output` is not a usable ExecCredential; the message never
// quotes `output`.
Result<Credential> parse_exec_credential(std::string_view output, const std::string& api_version);

}  // namespace paddle::kube
