// SPDX-License-Identifier: Apache-2.0
#include "programs/command_line.h"

#include <map>

#include <gtest/gtest.h>

#include "base/version.h"

namespace paddle::programs {
namespace {

OperatorFlags flags(const std::vector<std::string>& args) {
  const auto command = parse_operator(args);
  EXPECT_TRUE(command) << command.error().message;
  return command ? command->flags : OperatorFlags{};
}

TEST(OperatorCommandLine, NothingMeansTheContractsDefaults) {
  EXPECT_EQ(flags({}), OperatorFlags{});
  EXPECT_EQ(flags({}).init_image, "");
}

TEST(OperatorCommandLine, TakesOneDashOrTwoAndEqualsOrSpace) {
  const OperatorFlags expected{.health_probe_bind_address = ":9", .leader_elect = true, .ns = "a"};
  EXPECT_EQ(flags({"--leader-elect", "--namespace=a", "--health-probe-bind-address", ":9"}),
            expected);
  EXPECT_EQ(flags({"-leader-elect", "-namespace", "a", "-health-probe-bind-address=:9"}), expected);
  EXPECT_EQ(flags({"--leader-elect=true", "--namespace=a", "--health-probe-bind-address=:9"}),
            expected);
  EXPECT_FALSE(flags({"--leader-elect=false"}).leader_elect);
}

TEST(OperatorCommandLine, TakesEveryFlagOfTheGoOperator) {
  const auto all =
      flags({"--controllers=samplejob,paddlejob", "--metrics-bind-address=0",
             "--scheduling=volcano", "--initImage=busybox:1", "--etcd-server=http://a,http://b",
             "--port-range=30000,31000", "--cache-roots=/data,/ssd", "--kubeconfig=/k",
             "--zap-encoder=json", "--zap-log-level=error", "--zap-stacktrace-level=panic"});
  EXPECT_EQ(all.controllers, (std::vector<std::string>{"samplejob", "paddlejob"}));
  EXPECT_EQ(all.metrics_bind_address, "0");
  EXPECT_EQ(all.scheduling, "volcano");
  EXPECT_EQ(all.init_image, "busybox:1");
  EXPECT_EQ(all.etcd_servers.size(), 2u);
  EXPECT_EQ(all.port_range, (std::pair{30000, 31000}));
  EXPECT_EQ(all.cache_roots, (std::vector<std::string>{"/data", "/ssd"}));
  EXPECT_EQ(all.kubeconfig, "/k");
  EXPECT_EQ(all.log_encoder, "json");
  EXPECT_EQ(all.log_level, "error");
  EXPECT_EQ(flags({"--zap-devel"}).log_level, "debug");
  EXPECT_EQ(flags({"--development"}).log_level, "debug");
  EXPECT_EQ(flags({"--zap-log-level=3"}).log_level, "debug");
}

TEST(OperatorCommandLine, APortRangeIsTwoPortsWithRoomForAJob) {
  EXPECT_EQ(flags({"--port-range=1000,1019"}).port_range, (std::pair{1000, 1019}));
  for (const char* range : {"", "35000", "35000-65000", "a,b", "35000,", "0,100", "1,65536", "9,8",
                            "1000,1018", "1,2,3", " 1,100", "99999999999999,5"}) {
    const auto refused = parse_operator({std::string("--port-range=") + range});
    ASSERT_TRUE(refused.is(Code::kInvalid)) << range;
    EXPECT_NE(refused.error().message.find("--port-range"), std::string::npos) << range;
  }
}

TEST(OperatorCommandLine, TheLifeOfRuntimesIdentitiesIsATimeThatTheirFilesCanFollow) {
  EXPECT_EQ(flags({}).runtime_identity_lifetime, std::chrono::days{90});
  for (const auto& [text, life] :
       std::map<std::string, std::chrono::seconds>{{"10m", std::chrono::minutes{10}},
                                                   {"600s", std::chrono::minutes{10}},
                                                   {"12h", std::chrono::hours{12}},
                                                   {"3650d", std::chrono::days{3650}}}) {
    EXPECT_EQ(flags({"--runtime-identity-lifetime=" + text}).runtime_identity_lifetime, life);
  }
  for (const char* text : {"", "10", "m", "9m", "599s", "-1h", "1h30m", "3651d", "10w", " 10m",
                           "99999999999999999999d", "9223372036854775807d"}) {
    const auto refused = parse_operator({std::string("--runtime-identity-lifetime=") + text});
    ASSERT_TRUE(refused.is(Code::kInvalid)) << text;
    EXPECT_NE(refused.error().message.find("--runtime-identity-lifetime"), std::string::npos);
  }
}

TEST(OperatorCommandLine, AWrongOneIsOneSentence) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--nonsense"},
                                               {"-nonsense"},
                                               {"word"},
                                               {"--namespace"},
                                               {"--controllers=paddlejobs"},
                                               {"--controllers="},
                                               {"--cache-roots=data"},
                                               {"--port-range=1"},
                                               {"--port-range=9,8"},
                                               {"--port-range=0,70000"},
                                               {"--port-range=a,b"},
                                               {"--zap-encoder=xml"},
                                               {"--zap-log-level=loud"},
                                               {"--scheduling=slurm"},
                                               {"--leader-elect=maybe"}}) {
    const auto command = parse_operator(args);
    ASSERT_TRUE(command.is(Code::kInvalid)) << args[0];
    EXPECT_EQ(command.error().message.find('\n'), std::string::npos);
    EXPECT_NE(usage_error("paddle-operator", command.error()).find("--help"), std::string::npos);
  }
}

TEST(OperatorCommandLine, HelpHasExamplesAndVersionIsExact) {
  EXPECT_NE(parse_operator({"--help"})->text.find("Examples:"), std::string::npos);
  EXPECT_EQ(parse_operator({"--version"})->text, std::string("paddle-operator ") + kVersion + "\n");
}

TEST(CacheCommandLine, TakesWhatTheOperatorWrites) {
  const auto command =
      parse_cache({"serve", "--engine=samplefs", "--set=ns/set", "--source=s3://b/p",
                   "--source-secret=/s", "--token-file=/t", "--cache=/cache/0", "--cache-mib=5",
                   "--read-timeout=7", "--session=/run", "--listen=1.2.3.4:5"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->serve, (ServeFlags{.set = "ns/set",
                                        .source = "s3://b/p",
                                        .source_secret = "/s",
                                        .token_file = "/t",
                                        .cache = "/cache/0",
                                        .cache_mib = 5,
                                        .read_timeout = 7,
                                        .session = "/run",
                                        .listen = "1.2.3.4:5"}));
}

TEST(CacheCommandLine, AWrongOneIsOneSentenceAndHelpHasExamples) {
  const std::vector<std::string> good{"serve", "--source=file:///a", "--token-file=/t",
                                      "--cache=/c", "--listen=:1"};
  ASSERT_TRUE(parse_cache(good));
  for (const std::string& wrong :
       {std::string("--engine=other"), std::string("--cache-mib=-1"), std::string("--cache-mib=a"),
        std::string("--read-timeout=0"), std::string("--read-timeout=-5"),
        std::string("--read-timeout=3601"), std::string("--log-format=xml"),
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

TEST(CacheCommandLine, TakesWhatTheOperatorWritesForJuicefs) {
  const auto command =
      parse_cache({"serve", "--engine=juicefs", "--set=ns/set", "--data=/mnt/set",
                   "--volume-secret=/v", "--source-secret=/s", "--token-file=/t/token", "--tls=/t",
                   "--disk=/cache/0", "--disk=/cache/1", "--cache=/state", "--listen=1.2.3.4:5"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->serve, (ServeFlags{.engine = "juicefs",
                                        .set = "ns/set",
                                        .source_secret = "/s",
                                        .token_file = "/t/token",
                                        .cache = "/state",
                                        .listen = "1.2.3.4:5",
                                        .tls = "/t",
                                        .data = "/mnt/set",
                                        .volume_secret = "/v",
                                        .disks = {"/cache/0", "/cache/1"}}));
  EXPECT_TRUE(parse_cache({"serve", "--engine=juicefs", "--token-file=/t", "--cache=/s",
                           "--listen=:1", "--data=/mnt/set"})
                  .is(Code::kInvalid));
}

TEST(CacheCommandLine, TakesWhatThePreparationWrites) {
  const auto command = parse_cache({"format", "--volume-secret=/v"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->verb, CacheVerb::kFormat);
  EXPECT_EQ(command->format, (FormatFlags{.volume_secret = "/v"}));
  EXPECT_TRUE(parse_cache({"format", "--volume-secret=/v", "--update-keys"})->format.update_keys);
  EXPECT_TRUE(parse_cache({"format"}).is(Code::kInvalid));
  EXPECT_NE(parse_cache({"format", "--help"})->text.find("Examples:"), std::string::npos);
}

TEST(CacheCommandLine, TakesWhatTheNodeDaemonSetWrites) {
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

TEST(BareCommandLine, KnowsHelpAndVersionOnly) {
  EXPECT_EQ(*parse_bare("paddlectl", "x", {"--version"}),
            std::string("paddlectl ") + kVersion + "\n");
  EXPECT_EQ(*parse_bare("paddlectl", "x", {}), "");
  EXPECT_NE(parse_bare("paddlectl", "x", {"-help"})->find("Examples:"), std::string::npos);
  EXPECT_TRUE(parse_bare("paddlectl", "x", {"local"}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::programs
