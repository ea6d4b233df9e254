// SPDX-License-Identifier: Apache-2.0
#include "kube/client/credential_source.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "kube/client/exec_source.h"
#include "kube/client/token_file.h"

namespace paddle::kube {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class CredentialSourceTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  // A plugin in shell that counts its runs and then does `body`.
  Config plugin(const std::string& body) const {
    write("plugin.sh", "echo run >> " + path("runs") + "\n" + body);
    return {.server = "https://h",
            .exec = ExecPlugin{.command = "/bin/sh",
                               .args = {path("plugin.sh")},
                               .env = {{"WHO", "me"}},
                               .api_version = "client.authentication.k8s.io/v1",
                               .install_hint = "apt install it",
                               .provide_cluster_info = true,
                               .cluster_config = R"({"audience":"a"})"}};
  }
  static std::string prints(const std::string& status) {
    return R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{)" +
           status + "}}'\n";
  }
  size_t runs() const {
    std::ifstream file(path("runs"));
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  const Scratch scratch_;
  ManualClock clock_{};
};

TEST_F(CredentialSourceTest, ATokenFileIsReadAgainWhenItChanges) {
  write("token", " one \n");
  TokenFile source(path("token"));
  EXPECT_EQ(source.current(1s, {})->token, "one");
  write("new", "two");
  fs::rename(path("new"), path("token"));  // as the kubelet does it
  EXPECT_EQ(source.current(1s, {})->token, "two");
  fs::remove(path("token"));
  EXPECT_EQ(source.current(1s, {})->token, "two");
}

TEST_F(CredentialSourceTest, AfterARefusalOnlyADifferentTokenIsTried) {
  write("token", "one");
  TokenFile source(path("token"));
  const auto used = *source.current(1s, {});
  EXPECT_FALSE(source.refused(used));
  write("token", "two");
  EXPECT_TRUE(source.refused(used));
}

TEST_F(CredentialSourceTest, AnEmptyOrMissingTokenFileIsUnauthorized) {
  write("token", "\n");
  EXPECT_TRUE(TokenFile(path("token")).current(1s, {}).is(Code::kUnauthorized));
  EXPECT_TRUE(TokenFile(path("none")).current(1s, {}).is(Code::kUnauthorized));
  EXPECT_EQ(TokenFile(path("none"), "fallback").current(1s, {})->token, "fallback");
}

TEST_F(CredentialSourceTest, APluginRunsOnceForManyCallers) {
  ExecSource source(plugin("sleep 0.1\n" + prints(R"("token":"t")")), system_clock());
  std::vector<std::jthread> callers;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      const auto credential = source.current(30s, {});
      good += credential && credential->token == "t" ? 1 : 0;
    });
  }
  callers.clear();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CredentialSourceTest, APluginSeesItsEnvironmentAndTheCluster) {
  ExecSource source(plugin(R"(test "$WHO" = me || exit 3
printf '%s' "$KUBERNETES_EXEC_INFO" > )" +
                           path("info") + "\n" + prints(R"("token":"t")")),
                    clock_);
  ASSERT_TRUE(source.current(30s, {}));
  std::ifstream file(path("info"));
  const std::string info(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(info,
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":)"
            R"({"cluster":{"config":{"audience":"a"},"server":"https://h"},"interactive":false}})");
}

TEST_F(CredentialSourceTest, AnExpiredOrRefusedCredentialIsRenewed) {
  const std::string expires = rfc3339(clock_.wall() + 100s);
  ExecSource source(plugin(prints(R"("token":"t","expirationTimestamp":")" + expires + "\"")),
                    clock_);
  const auto first = *source.current(30s, {});
  EXPECT_TRUE(source.current(30s, {}));
  EXPECT_EQ(runs(), 1u);
  clock_.advance(95s);
  EXPECT_TRUE(source.current(30s, {}));
  EXPECT_EQ(runs(), 2u);
  EXPECT_TRUE(source.refused(first));
  EXPECT_TRUE(source.current(30s, {}));
  EXPECT_EQ(runs(), 3u);
}

TEST_F(CredentialSourceTest, AFailingPluginIsOneClearErrorAndDoesNotRunAgainForASecond) {
  ExecSource source(plugin("echo 'no session' >&2; exit 7"), clock_);
  const auto failed = source.current(30s, {});
  ASSERT_TRUE(failed.is(Code::kUnauthorized));
  EXPECT_EQ(failed.error().message,
            "credential plugin '/bin/sh' failed with exit code 7: no session");
  EXPECT_FALSE(source.current(30s, {}));
  EXPECT_EQ(runs(), 1u);
  clock_.advance(2s);
  EXPECT_FALSE(source.current(30s, {}));
  EXPECT_EQ(runs(), 2u);
}

TEST_F(CredentialSourceTest, AMissingPluginGivesTheInstallHint) {
  auto config = plugin("");
  config.exec->command = "no-such-plugin-anywhere";
  const auto failed = ExecSource(config, clock_).current(30s, {});
  ASSERT_TRUE(failed.is(Code::kUnauthorized));
  EXPECT_EQ(failed.error().message,
            "credential plugin 'no-such-plugin-anywhere' is not installed; apt install it");
}

TEST_F(CredentialSourceTest, APluginThatHangsOrPrintsTooMuchIsKilledWithItsChildren) {
  EXPECT_TRUE(ExecSource(plugin("sleep 1000 | sleep 1000"), system_clock())
                  .current(200ms, {})
                  .is(Code::kDeadline));
  EXPECT_TRUE(ExecSource(plugin("yes"), system_clock()).current(30s, {}).is(Code::kInvalid));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(ExecSource(plugin("sleep 1000"), system_clock())
                  .current(30s, stop.get_token())
                  .is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::kube
