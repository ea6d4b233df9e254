// SPDX-License-Identifier: Apache-2.0
//
// What we tell a credential plugin and what it tells us: ExecCredential of
// client.authentication.k8s.io, v1 and v1beta1. Pure.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/config/config.h"
#include "kube/config/credential.h"

namespace paddle::kube {

// The text of KUBERNETES_EXEC_INFO. `ca_pem` is what config.tls.ca_file holds, if that is how the
// CA is given. The plugin never gets a terminal: spec.interactive is false.
std::string exec_info(const Config& config, const ExecPlugin& plugin, const std::string& ca_pem);

// kUnauthorized with the reason when `output` is not a usable ExecCredential; never quotes it.
Result<Credential> parse_exec_credential(std::string_view output, const std::string& api_version);

}  // namespace paddle::kube
