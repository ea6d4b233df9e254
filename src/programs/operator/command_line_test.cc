// SPDX-License-Identifier: Apache-2.0
#include "programs/operator/command_line.h"

#include <map>

#include <gtest/gtest.h>

#include "base/version.h"
#include "programs/flags/flag_parser.h"

namespace paddle::programs {
namespace {

OperatorFlags flags(const std::vector<std::string>& args) {
  const auto command = parse_operator(args);
  EXPECT_TRUE(command) << command.error().message;
  return command ? command->flags : OperatorFlags{};
}

TEST(OperatorCommandLine, WithoutFlagsHasTheDefaultsOfThePublicOperator) {
  EXPECT_EQ(flags({}), OperatorFlags{});
  EXPECT_EQ(flags({}).options.paddle_job.init_image, "");
}

TEST(OperatorCommandLine, AcceptsOneDashOrTwoAndEqualsOrSpace) {
  const OperatorFlags expected{
      .options = {.ns = "a"}, .health_probe_bind_address = ":9", .leader_elect = true};
  EXPECT_EQ(flags({"--leader-elect", "--namespace=a", "--health-probe-bind-address", ":9"}),
            expected);
  EXPECT_EQ(flags({"-leader-elect", "-namespace", "a", "-health-probe-bind-address=:9"}), expected);
  EXPECT_EQ(flags({"--leader-elect=true", "--namespace=a", "--health-probe-bind-address=:9"}),
            expected);
  EXPECT_FALSE(flags({"--leader-elect=false"}).leader_elect);
}

TEST(OperatorCommandLine, AcceptsEveryFlagOfTheGoOperator) {
  const auto all = flags(
      {"--controllers=samplejob,paddlejob", "--metrics-bind-address=0", "--scheduling=volcano",
       "--initImage=busybox:1", "--etcd-server=http://a,http://b", "--port-range=30000,31000",
       "--cache-roots=/data,/ssd", "--source-roots=/public", "--kubeconfig=/k",
       "--zap-encoder=json", "--zap-log-level=error", "--zap-stacktrace-level=panic"});
  EXPECT_EQ(all.options.controllers, (std::vector<std::string>{"samplejob", "paddlejob"}));
  EXPECT_EQ(all.metrics_bind_address, "0");
  EXPECT_EQ(all.options.paddle_job.scheduling, "volcano");
  EXPECT_EQ(all.options.paddle_job.init_image, "busybox:1");
  EXPECT_EQ(all.options.etcd_server, "http://a,http://b");
  EXPECT_EQ(all.options.paddle_job.host_ports, (controllers::paddle_job::PortRange{30000, 31000}));
  EXPECT_EQ(all.options.runtime.cache_roots, (std::vector<std::string>{"/data", "/ssd"}));
  EXPECT_EQ(all.options.runtime.source_roots, (std::vector<std::string>{"/public"}));
  EXPECT_TRUE(flags({}).options.runtime.source_roots.empty()) << "no directory of nodes is open";
  EXPECT_EQ(all.kubeconfig, "/k");
  EXPECT_EQ(all.log_encoder, "json");
  EXPECT_EQ(all.log_level, "error");
  EXPECT_EQ(flags({"--zap-devel"}).log_level, "debug");
  EXPECT_EQ(flags({"--development"}).log_level, "debug");
  EXPECT_EQ(flags({"--zap-log-level=3"}).log_level, "debug");
}

TEST(OperatorCommandLine, CachesAreBeneathAListOfDirectoriesByDefault) {
  const auto roots = flags({}).options.runtime.cache_roots;
  EXPECT_EQ(roots, engine::default_cache_roots());
  EXPECT_EQ(roots.front(), "/dev/shm");
  EXPECT_EQ(flags({"--cache-roots="}).options.runtime.cache_roots, roots);
}

TEST(OperatorCommandLine, TheCacheLimitOfANamespaceIsASize) {
  EXPECT_EQ(flags({}).options.namespace_cache_mib, 0);
  EXPECT_EQ(flags({"--namespace-cache-limit=512Mi"}).options.namespace_cache_mib, 512);
  EXPECT_EQ(flags({"--namespace-cache-limit=2Ti"}).options.namespace_cache_mib, 2 << 20);
  for (const char* wrong : {"1", "Gi", "0Gi", "-1Gi", "1.5Gi", "1GB", "1 Gi", "9999999999Pi"}) {
    const auto refused = parse_operator({std::string("--namespace-cache-limit=") + wrong});
    ASSERT_TRUE(refused.is(Code::kInvalid)) << wrong;
  }
}

TEST(OperatorCommandLine, SecretsOfDriversHaveANamespaceOfTheirOwn) {
  EXPECT_EQ(flags({}).options.runtime.volume_secrets_namespace, "paddle-volumes");
  EXPECT_EQ(flags({"--volume-secrets-namespace=x"}).options.runtime.volume_secrets_namespace, "x");
  EXPECT_TRUE(parse_operator({"--volume-secrets-namespace="}).is(Code::kInvalid));
}

TEST(OperatorCommandLine, WorkersAreANumberOfThreadsPerController) {
  EXPECT_EQ(flags({}).options.workers, 4);
  EXPECT_EQ(flags({"--workers=16"}).options.workers, 16);
  for (const char* wrong : {"0", "-1", "65", "many"}) {
    EXPECT_FALSE(parse_operator({std::string("--workers=") + wrong})) << wrong;
  }
}

TEST(OperatorCommandLine, APortRangeIsTwoPortsWithRoomForAJob) {
  EXPECT_EQ(flags({"--port-range=1000,1019"}).options.paddle_job.host_ports,
            (controllers::paddle_job::PortRange{1000, 1019}));
  for (const char* range : {"", "35000", "35000-65000", "a,b", "35000,", "0,100", "1,65536", "9,8",
                            "1000,1018", "1,2,3", " 1,100", "99999999999999,5"}) {
    const auto refused = parse_operator({std::string("--port-range=") + range});
    ASSERT_TRUE(refused.is(Code::kInvalid)) << range;
    EXPECT_NE(refused.error().message.find("--port-range"), std::string::npos) << range;
  }
}

TEST(OperatorCommandLine, TheLifetimeOfRuntimeSecretsHasLimits) {
  EXPECT_EQ(flags({}).options.runtime_secret_lifetime, std::chrono::days{90});
  for (const auto& [text, life] :
       std::map<std::string, std::chrono::seconds>{{"10m", std::chrono::minutes{10}},
                                                   {"600s", std::chrono::minutes{10}},
                                                   {"12h", std::chrono::hours{12}},
                                                   {"3650d", std::chrono::days{3650}}}) {
    EXPECT_EQ(flags({"--runtime-identity-lifetime=" + text}).options.runtime_secret_lifetime, life);
  }
  for (const char* text : {"", "10", "m", "9m", "599s", "-1h", "1h30m", "3651d", "10w", " 10m",
                           "99999999999999999999d", "9223372036854775807d"}) {
    const auto refused = parse_operator({std::string("--runtime-identity-lifetime=") + text});
    ASSERT_TRUE(refused.is(Code::kInvalid)) << text;
    EXPECT_NE(refused.error().message.find("--runtime-identity-lifetime"), std::string::npos);
  }
}

TEST(OperatorCommandLine, AnErrorIsOneSentence) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--nonsense"},
                                               {"-nonsense"},
                                               {"word"},
                                               {"--namespace"},
                                               {"--controllers=paddlejobs"},
                                               {"--controllers="},
                                               {"--cache-roots=data"},
                                               {"--source-roots=data"},
                                               {"--source-roots=/"},
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

}  // namespace
}  // namespace paddle::programs
