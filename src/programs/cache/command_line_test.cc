// SPDX-License-Identifier: Apache-2.0
#include "programs/cache/command_line.h"

#include <gtest/gtest.h>

#include "base/version.h"

namespace paddle::programs {
namespace {

TEST(CacheCommandLine, AcceptsTheOperatorsArgumentsForSamplefs) {
  const auto command =
      parse_cache({"serve", "--engine=samplefs", "--set=ns/set", "--source=s3://b/p",
                   "--source-secret=/s", "--token-file=/t", "--cache=/cache/0", "--cache-mib=5",
                   "--read-timeout=7", "--in-flight-mib=64", "--scrub-mib=3", "--session=/run",
                   "--keys=/ram", "--listen=1.2.3.4:5"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->serve, (ServeFlags{.set = "ns/set",
                                        .source = "s3://b/p",
                                        .source_secret = "/s",
                                        .token_file = "/t",
                                        .caches = {"/cache/0"},
                                        .cache_mib = {5},
                                        .state = "/cache/0",
                                        .keys = "/ram",
                                        .read_timeout = 7,
                                        .in_flight_mib = 64,
                                        .scrub_mib = 3,
                                        .session = "/run",
                                        .listen = "1.2.3.4:5"}));
}

TEST(CacheCommandLine, TakesSeveralTiersInTheirOrder) {
  const std::vector<std::string> base{"serve", "--source=file:///a", "--token-file=/t",
                                      "--listen=:1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return parse_cache(more);
  };
  const auto two =
      with({"--cache=/ram", "--cache-mib=5", "--cache=/ssd", "--cache-mib=0", "--state=/ssd"});
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->serve.caches, (std::vector<std::string>{"/ram", "/ssd"}));
  EXPECT_EQ(two->serve.cache_mib, (std::vector<std::uint64_t>{5, 0}));
  EXPECT_EQ(two->serve.state, "/ssd");
  EXPECT_EQ(with({"--cache=/a"})->serve.state, "/a");
  EXPECT_TRUE(with({}).is(Code::kInvalid));
  EXPECT_TRUE(with({"--cache=/a", "--cache-mib=1", "--cache-mib=2"}).is(Code::kInvalid));
  EXPECT_TRUE(
      with({"--engine=juicefs", "--data=/d", "--volume-secret=/s", "--cache=/a", "--cache=/b"})
          .is(Code::kInvalid));
}

TEST(CacheCommandLine, AnErrorIsOneSentenceAndHelpHasExamples) {
  const std::vector<std::string> good{"serve", "--source=file:///a", "--token-file=/t",
                                      "--cache=/c", "--listen=:1"};
  ASSERT_TRUE(parse_cache(good));
  for (const std::string& wrong :
       {std::string("--engine=other"), std::string("--cache-mib=-1"), std::string("--cache-mib=a"),
        std::string("--read-timeout=0"), std::string("--read-timeout=-5"),
        std::string("--read-timeout=3601"), std::string("--scrub-mib=-1"),
        std::string("--in-flight-mib=15"), std::string("--log-format=xml"),
        std::string("--nonsense"), std::string("word")}) {
    auto args = good;
    args.push_back(wrong);
    const auto command = parse_cache(args);
    ASSERT_TRUE(command.is(Code::kInvalid)) << wrong;
    EXPECT_EQ(command.error().message.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(parse_cache({}).is(Code::kInvalid));
  EXPECT_TRUE(parse_cache({"serve"}).is(Code::kInvalid));
  EXPECT_NE(parse_cache({"--help"})->text.find("Examples:"), std::string::npos);
  EXPECT_NE(parse_cache({"serve", "--help"})->text.find("--cache-mib"), std::string::npos);
  EXPECT_EQ(parse_cache({"--version"})->text, std::string("paddle-cache ") + kVersion + "\n");
}

TEST(CacheCommandLine, AcceptsTheOperatorsArgumentsForJuicefs) {
  const auto command =
      parse_cache({"serve", "--engine=juicefs", "--set=ns/set", "--data=/mnt/set",
                   "--volume-secret=/v", "--source-secret=/s", "--token-file=/t/token", "--tls=/t",
                   "--cache-mib=7", "--cache=/state", "--listen=1.2.3.4:5"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->serve, (ServeFlags{.engine = "juicefs",
                                        .set = "ns/set",
                                        .source_secret = "/s",
                                        .token_file = "/t/token",
                                        .caches = {"/state"},
                                        .cache_mib = {7},
                                        .state = "/state",
                                        .listen = "1.2.3.4:5",
                                        .tls = "/t",
                                        .data = "/mnt/set",
                                        .volume_secret = "/v"}));
  EXPECT_TRUE(parse_cache({"serve", "--engine=juicefs", "--token-file=/t", "--cache=/s",
                           "--listen=:1", "--data=/mnt/set"})
                  .is(Code::kInvalid));
}

TEST(CacheCommandLine, AcceptsTheArgumentsOfThePreparationPod) {
  const auto command = parse_cache({"format", "--volume-secret=/v"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->verb, CacheVerb::kFormat);
  EXPECT_EQ(command->format, (FormatFlags{.volume_secret = "/v"}));
  EXPECT_TRUE(parse_cache({"format", "--volume-secret=/v", "--update-keys"})->format.update_keys);
  EXPECT_TRUE(parse_cache({"format"}).is(Code::kInvalid));
  EXPECT_NE(parse_cache({"format", "--help"})->text.find("Examples:"), std::string::npos);
}

TEST(CacheCommandLine, AcceptsTheArgumentsOfTheNodeDaemonSet) {
  const auto command =
      parse_cache({"register", "--csi-socket=/csi/csi.sock", "--kubelet-registration-path=/k/s"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->verb, CacheVerb::kRegister);
  EXPECT_EQ(command->registration,
            (RegisterFlags{.csi_socket = "/csi/csi.sock", .kubelet_registration_path = "/k/s"}));
  EXPECT_EQ(command->registration.registry, "/registration");
  EXPECT_TRUE(parse_cache({"register", "--csi-socket=/c"}).is(Code::kInvalid));
  EXPECT_TRUE(parse_cache({"register", "--csi-socket=/c", "--kubelet-registration-path=/k",
                           "--log-format=xml"})
                  .is(Code::kInvalid));
  EXPECT_NE(parse_cache({"register", "--help"})->text.find("Examples:"), std::string::npos);
}

}  // namespace
}  // namespace paddle::programs
