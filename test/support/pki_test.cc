// SPDX-License-Identifier: Apache-2.0
#include "test/support/pki.h"

#include <gtest/gtest.h>

#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {
namespace {

// The result of the openssl command: a check from outside of our process.
Ran verify(const Authority& authority, const Certificate& made,
           const std::vector<std::string>& more) {
  const ScratchDir scratch;
  const std::string ca = scratch.path() + "/ca";
  const std::string leaf = scratch.path() + "/leaf";
  EXPECT_TRUE(write_file(ca, authority.certificate()));
  EXPECT_TRUE(write_file(leaf, made.certificate));
  Command command{.argv = {"/usr/bin/openssl", "verify", "-CAfile", ca}};
  command.argv.insert(command.argv.end(), more.begin(), more.end());
  command.argv.push_back(leaf);
  return run(command);
}

TEST(Authority, ItsServerCertificatesAreValidOnlyForTheirNames) {
  const auto authority = Authority::create("test");
  ASSERT_TRUE(authority);
  const auto server = authority->server({"IP:127.0.0.1", "DNS:localhost"});
  ASSERT_TRUE(server);
  const std::vector<std::string> purpose{"-purpose", "sslserver"};
  EXPECT_EQ(verify(*authority, *server, purpose).exit_code, 0);
  EXPECT_EQ(verify(*authority, *server, {"-verify_ip", "127.0.0.1"}).exit_code, 0);
  EXPECT_EQ(verify(*authority, *server, {"-verify_hostname", "localhost"}).exit_code, 0);
  EXPECT_NE(verify(*authority, *server, {"-verify_ip", "127.0.0.2"}).exit_code, 0);
  EXPECT_NE(verify(*authority, *server, {"-purpose", "sslclient"}).exit_code, 0);
}

TEST(Authority, DoesNotVerifyForeignOrExpiredCertificates) {
  const auto authority = Authority::create("test");
  const auto other = Authority::create("test");
  ASSERT_TRUE(authority && other);
  const auto client = authority->client("alice", {"group"});
  const auto old = authority->client("alice", {}, Validity::kExpired);
  ASSERT_TRUE(client && old);
  EXPECT_EQ(verify(*authority, *client, {"-purpose", "sslclient"}).exit_code, 0);
  EXPECT_NE(verify(*other, *client, {}).exit_code, 0);
  EXPECT_NE(verify(*authority, *old, {}).err.find("certificate has expired"), std::string::npos);
}

}  // namespace
}  // namespace paddle::test
