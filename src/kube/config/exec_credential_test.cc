// SPDX-License-Identifier: Apache-2.0
#include "kube/config/exec_credential.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

TEST(ExecCredential, OnlyAUsableOutputIsAccepted) {
  const std::string v1 = "client.authentication.k8s.io/v1";
  const auto parse = [&](const std::string& status, const std::string& version) {
    return parse_exec_credential(
        R"({"kind":"ExecCredential","apiVersion":")" + version + R"(","status":)" + status + "}",
        v1);
  };
  EXPECT_EQ(parse(R"({"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"})", v1)->expires,
            *parse_rfc3339("2030-01-01T00:00:00Z"));
  EXPECT_EQ(parse(R"({"clientCertificateData":"c","clientKeyData":"k"})", v1)->key_pem, "k");
  const char* bad[] = {"{}",
                       "[]",
                       "null",
                       R"({"token":7})",
                       R"({"clientCertificateData":"c"})",
                       R"({"token":"t","expirationTimestamp":"soon"})"};
  for (const char* status : bad) EXPECT_TRUE(parse(status, v1).is(Code::kUnauthorized)) << status;
  EXPECT_TRUE(
      parse(R"({"token":"t"})", "client.authentication.k8s.io/v1beta1").is(Code::kUnauthorized));
  const auto garbage = parse_exec_credential("secret-garbage", v1);
  ASSERT_TRUE(garbage.is(Code::kUnauthorized));
  EXPECT_EQ(garbage.error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace paddle::kube
