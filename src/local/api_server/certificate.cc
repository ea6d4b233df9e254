// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/certificate.h"

#include "local/api_server/data_directory.h"
#include "tls/certificate.h"

namespace paddle::local {
namespace {

constexpr std::string_view kBorder = "-----BEGIN CERTIFICATE-----";

}  // namespace

Result<ServingCertificate> make_serving_certificate(const std::string& address, WallTime now) {
  using std::chrono::days;
  std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
  if (address != "127.0.0.1" && address != "::1") names += ",IP:" + address;
  TRY(auto made, tls::make_self_signed({.common_name = "paddle-local",
                                        .names = names,
                                        .valid = {now - days{1}, now + days{3650}},
                                        .authority = true}));
  return ServingCertificate{.certificate = std::move(made.certificate), .key = std::move(made.key)};
}

Result<ServingCertificate> load_serving_certificate(const std::string& directory,
                                                    const std::string& address, WallTime now) {
  const std::string path = directory + "/server.pem";
  TRY(const std::string text, read_private(path));
  const auto border = text.find(kBorder);
  if (border != std::string::npos && border > 0) {
    return ServingCertificate{.certificate = text.substr(border), .key = text.substr(0, border)};
  }
  TRY(ServingCertificate made, make_serving_certificate(address, now));
  CHECK_DONE(replace_private(path, made.key + made.certificate));
  return made;
}

}  // namespace paddle::local
