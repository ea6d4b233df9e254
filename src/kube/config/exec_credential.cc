// SPDX-License-Identifier: Apache-2.0
#include "kube/config/exec_credential.h"

#include <nlohmann/json.hpp>

#include "api/json/json.h"
#include "base/base64.h"

namespace paddle::kube {
namespace {

using api::Json;

Error unusable(const std::string& why) {
  return {Code::kUnauthorized, "unusable ExecCredential: " + why};
}

Result<std::string> optional_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string{};
  if (!found->is_string()) return unusable(std::string("status.") + key + " is not a string");
  return found->get<std::string>();
}

}  // namespace

std::string exec_info(const Config& config, const ExecPlugin& plugin, const std::string& ca_pem) {
  Json info = {{"apiVersion", plugin.api_version},
               {"kind", "ExecCredential"},
               {"spec", {{"interactive", false}}}};
  if (plugin.provide_cluster_info) {
    Json cluster = {{"server", config.server}};
    const std::string& ca = config.tls.ca_pem.empty() ? ca_pem : config.tls.ca_pem;
    if (!ca.empty()) cluster["certificate-authority-data"] = base64_encode(ca);
    if (!config.tls.server_name.empty()) cluster["tls-server-name"] = config.tls.server_name;
    if (config.tls.insecure) cluster["insecure-skip-tls-verify"] = true;
    if (config.proxy) cluster["proxy-url"] = *config.proxy;
    if (auto extra = api::parse_json(plugin.cluster_config); extra)
      cluster["config"] = *std::move(extra);
    info["spec"]["cluster"] = std::move(cluster);
  }
  return api::dump_json(info);
}

Result<Credential> parse_exec_credential(std::string_view output, const std::string& api_version) {
  const auto parsed = api::parse_json(output);
  if (!parsed || !parsed->is_object()) return unusable("the output is not a JSON object");
  TRY(const std::string kind, optional_text(*parsed, "kind"));
  TRY(const std::string version, optional_text(*parsed, "apiVersion"));
  if (kind != "ExecCredential") return unusable("kind is not ExecCredential");
  if (version != api_version) return unusable("apiVersion is not " + api_version);
  const auto status = parsed->find("status");
  if (status == parsed->end() || !status->is_object()) return unusable("it has no status");

  Credential credential;
  TRY(credential.token, optional_text(*status, "token"));
  TRY(credential.cert_pem, optional_text(*status, "clientCertificateData"));
  TRY(credential.key_pem, optional_text(*status, "clientKeyData"));
  if (credential.cert_pem.empty() != credential.key_pem.empty()) {
    return unusable("it needs both a certificate and its key");
  }
  if (credential.token.empty() && credential.cert_pem.empty()) {
    return unusable("it has neither a token nor a certificate");
  }
  TRY(const std::string expires, optional_text(*status, "expirationTimestamp"));
  if (!expires.empty()) {
    const auto time = parse_rfc3339(expires);
    if (!time) return unusable("expirationTimestamp is not a time");
    credential.expires = *time;
  }
  return credential;
}

}  // namespace paddle::kube
