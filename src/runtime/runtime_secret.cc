// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_secret.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/base64.h"
#include "tls/certificate.h"

namespace paddle::runtime {
namespace {

// Tolerates clocks that are behind ours; less for a short lifetime, so that its middle is in the
// future.
std::chrono::seconds skew_for(std::chrono::seconds life) {
  return std::min<std::chrono::seconds>(std::chrono::hours{1}, life / 4);
}
constexpr std::size_t kTokenBytes = 32;

std::string at(const SecretData& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() ? std::string() : found->second;
}

}  // namespace

std::string server_name(const std::string& ns, const std::string& set) {
  return set + "-runtime." + ns;
}

Result<SecretData> make_runtime_secret(const std::string& ns, const std::string& set,
                                       const SecretData& before, WallTime now,
                                       const RuntimeSecretOptions& options) {
  const std::string name = server_name(ns, set);
  const tls::Validity valid{now - skew_for(options.lifetime), now + options.lifetime};
  TRY(const auto authority,
      tls::make_self_signed(
          {.common_name = "paddle-cache runtimes", .valid = valid, .authority = true}));
  // A common name has at most 64 characters; clients check the DNS name.
  TRY(auto server,
      tls::make_signed(
          {.common_name = "paddle-cache runtime", .names = "DNS:" + name, .valid = valid},
          authority));
  SecretData made{
      {kAuthority, authority.certificate + tls::first_certificate(at(before, kAuthority))},
      {kCertificate, std::move(server.certificate)},
      {kKey, std::move(server.key)},
      {kTokenBefore, at(before, engine::kTokenKey)}};
  TRY(made[engine::kTokenKey], tls::random_hex(kTokenBytes));
  return made;
}

SecretData without_previous(SecretData data) {
  data[kTokenBefore].clear();
  data[kAuthority] = tls::first_certificate(at(data, kAuthority));
  return data;
}

SecretData secret_values(const api::Json& secret) {
  SecretData values;
  const api::Json& data = api::look(secret, "data");
  if (!data.is_object()) return values;
  for (const auto& [name, value] : data.items()) {
    if (!value.is_string()) continue;
    if (auto plain = base64_decode(value.get<std::string>())) values[name] = *std::move(plain);
  }
  return values;
}

RuntimeCredentials credentials_from(const SecretData& data, const std::string& ns,
                                    const std::string& set, bool tls) {
  RuntimeCredentials access{.token = at(data, engine::kTokenKey),
                            .token_before = at(data, kTokenBefore)};
  if (tls) {
    access.authority = at(data, kAuthority);
    access.name = server_name(ns, set);
    access.tls = true;
  }
  return access;
}

bool is_complete(const RuntimeCredentials& access) {
  if (access.token.empty()) return false;
  return !access.tls || (!access.authority.empty() && tls::validity_of(access.authority));
}

WallTime renewal_of(const SecretData& data) {
  if (at(data, engine::kTokenKey).empty() || at(data, kKey).empty()) return WallTime{};
  const auto authority = tls::validity_of(at(data, kAuthority));
  const auto server = tls::validity_of(at(data, kCertificate));
  if (!authority || !server) return WallTime{};
  const WallTime until = std::min(authority->until, server->until);
  const WallTime from = std::max(authority->from, server->from);
  return from + (until - from) / 2;
}

bool needs_renewal(const SecretData& data, WallTime now) { return now >= renewal_of(data); }

}  // namespace paddle::runtime
