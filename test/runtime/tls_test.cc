// SPDX-License-Identifier: Apache-2.0
//
// The program over TLS, with the files of a set's Secret, renewed while it runs.

#include "base/clock.h"
#include "runtime/runtime_secret.h"
#include "test/runtime/fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

class TlsTest : public RuntimeTest {
 protected:
  runtime::Client client(const runtime::SecretData& data) {
    return {address_, runtime::RuntimeCredentials{.token = data.at("token"),
                                                  .authority = data.at(runtime::kAuthority),
                                                  .name = runtime::server_name("test", "set")}};
  }
};

TEST_F(TlsTest, ServesTheSetsCertificateAndFollowsARenewal) {
  const auto now = system_clock().wall();
  const auto first = *runtime::make_runtime_secret("test", "set", {}, now);
  write_identity(first);
  start_over_tls();
  ASSERT_TRUE(eventually([&] { return client(first).status() || !alive(server_); })) << logs();
  ASSERT_TRUE(alive(server_)) << logs();
  EXPECT_FALSE(runtime::Client(address_, first.at("token")).status()) << "without TLS";

  const auto second = *runtime::make_runtime_secret("test", "set", first, now);
  write_identity(second);
  EXPECT_TRUE(client(second).status());
  auto with_old_token = second;
  with_old_token["token"] = first.at("token");
  EXPECT_TRUE(client(with_old_token).status()) << "who has not heard of the new one yet";

  const auto third = *runtime::make_runtime_secret("test", "set", second, now);
  write_identity(third);
  with_old_token[runtime::kAuthority] = third.at(runtime::kAuthority);
  EXPECT_TRUE(client(with_old_token).status().is(Code::kUnauthorized)) << "two before is too old";
  EXPECT_EQ(logs().find(third.at("token")), std::string::npos);
}

TEST_F(TlsTest, DoesNotStartWithoutItsCertificate) {
  start_over_tls();
  std::optional<Exit> exit;
  ASSERT_TRUE(eventually([&] { return (exit = poll_exit(server_)).has_value(); }));
  server_ = 0;
  EXPECT_EQ(exit->code, 1);
  EXPECT_NE(logs().find("are not a certificate and its key"), std::string::npos) << logs();
}

}  // namespace
}  // namespace paddle::test
