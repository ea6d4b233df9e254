// SPDX-License-Identifier: Apache-2.0
#include "programs/command_line.h"

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
  EXPECT_EQ(flags({}).init_image, "docker.io/library/alpine:3.10");
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
  const auto all = flags({"--controllers=samplejob,paddlejob", "--metrics-bind-address=0",
                          "--scheduling=volcano", "--initImage=", "--etcd-server=http://a,http://b",
                          "--port-range=30000,31000", "--kubeconfig=/k", "--zap-encoder=json",
                          "--zap-log-level=error", "--zap-stacktrace-level=panic"});
  EXPECT_EQ(all.controllers, (std::vector<std::string>{"samplejob", "paddlejob"}));
  EXPECT_EQ(all.metrics_bind_address, "0");
  EXPECT_EQ(all.scheduling, "volcano");
  EXPECT_EQ(all.init_image, "");
  EXPECT_EQ(all.etcd_servers.size(), 2u);
  EXPECT_EQ(all.port_range, (std::pair{30000, 31000}));
  EXPECT_EQ(all.kubeconfig, "/k");
  EXPECT_EQ(all.log_encoder, "json");
  EXPECT_EQ(all.log_level, "error");
  EXPECT_EQ(flags({"--zap-devel"}).log_level, "debug");
  EXPECT_EQ(flags({"--development"}).log_level, "debug");
  EXPECT_EQ(flags({"--zap-log-level=3"}).log_level, "debug");
}

TEST(OperatorCommandLine, AWrongOneIsOneSentence) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--nonsense"},
                                               {"-nonsense"},
                                               {"word"},
                                               {"--namespace"},
                                               {"--controllers=paddlejobs"},
                                               {"--controllers="},
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

TEST(BareCommandLine, KnowsHelpAndVersionOnly) {
  EXPECT_EQ(*parse_bare("paddlectl", "x", {"--version"}),
            std::string("paddlectl ") + kVersion + "\n");
  EXPECT_EQ(*parse_bare("paddlectl", "x", {}), "");
  EXPECT_NE(parse_bare("paddlectl", "x", {"-help"})->find("Examples:"), std::string::npos);
  EXPECT_TRUE(parse_bare("paddlectl", "x", {"local"}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::programs
