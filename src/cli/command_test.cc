// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"

namespace paddle::cli {
namespace {

using testing::HasSubstr;

template <typename Verb>
Verb parse(std::vector<std::string> args) {
  args.insert(args.begin(), "local");
  const auto command = parse_command(args);
  EXPECT_TRUE(command) << command.error().message;
  const Verb* verb = command ? std::get_if<Verb>(&*command) : nullptr;
  EXPECT_NE(verb, nullptr);
  return verb ? *verb : Verb{};
}

TEST(CommandLine, UpTakesADirectoryAPortAndTheForeground) {
  EXPECT_EQ(parse<Up>({"up"}), Up{});
  EXPECT_EQ(parse<Up>({"up", "--directory", "/d", "--port=7443", "--foreground"}),
            (Up{.flags = {.directory = "/d"}, .foreground = true, .port = 7443}));
  EXPECT_EQ(parse<Down>({"down", "--delete"}), (Down{.flags = {}, .remove = true}));
}

TEST(CommandLine, GetTakesAKindAndNames) {
  EXPECT_EQ(parse<Get>({"get", "pdj"}), (Get{.words = {"pdj"}}));
  EXPECT_EQ(parse<Get>({"get", "pods", "a", "b", "-n", "x", "-o", "yaml"}),
            (Get{.flags = {.ns = "x"}, .words = {"pods", "a", "b"}, .output = "yaml"}));
  EXPECT_EQ(parse<Get>({"get", "pods", "-A", "-w", "-l", "a=b"}),
            (Get{.words = {"pods"}, .selector = "a=b", .all_namespaces = true, .watch = true}));
}

TEST(CommandLine, LogsDeleteAndWaitAreAsInKubectl) {
  EXPECT_EQ(parse<Logs>({"logs", "-f", "pdj/train", "--tail", "5", "-c", "main", "-p"}),
            (Logs{.target = "pdj/train",
                  .container = "main",
                  .follow = true,
                  .previous = true,
                  .tail = 5}));
  EXPECT_EQ(parse<Logs>({"logs", "-l", "a=b"}), (Logs{.selector = "a=b"}));
  EXPECT_EQ(parse<Delete>({"delete", "pod", "a", "b", "--wait=false"}),
            (Delete{.words = {"pod", "a", "b"}, .wait = false}));
  EXPECT_EQ(parse<Delete>({"delete", "pods", "--all"}), (Delete{.words = {"pods"}, .all = true}));
  EXPECT_EQ(parse<Delete>({"delete", "pods", "-l", "a=b"}),
            (Delete{.words = {"pods"}, .selector = "a=b"}));
  EXPECT_EQ(parse<Describe>({"describe", "pdj", "a"}), (Describe{.words = {"pdj", "a"}}));
  EXPECT_EQ(parse<Delete>({"delete", "-f", "x.yaml", "--timeout=2m"}),
            (Delete{.files = {"x.yaml"}, .timeout_seconds = 120}));
  EXPECT_EQ(parse<Wait>({"wait", "pdj/train", "--for=phase=Completed", "--timeout", "90s"}),
            (Wait{.words = {"pdj/train"},
                  .condition = *parse_wait_condition("phase=Completed"),
                  .timeout_seconds = 90}));
  EXPECT_EQ(parse<Wait>({"wait", "pdj/a", "--for=delete", "--timeout=30"}).timeout_seconds, 30);
  EXPECT_EQ(parse<Apply>({"apply", "-f", "a", "-f", "-"}), (Apply{.files = {"a", "-"}}));
  EXPECT_TRUE(parse<Status>({"status", "-o", "json"}).json);
  EXPECT_TRUE(parse<Kubeconfig>({"kubeconfig", "--path"}).path);
}

TEST(CommandLine, AnInvalidCommandLineIsOneSentence) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{},
        {"nonsense"},
        {"local"},
        {"local", "nonsense"},
        {"local", "up", "--port=70000"},
        {"local", "apply"},
        {"local", "get"},
        {"local", "get", "pods", "-o", "xml"},
        {"local", "get", "pods", "-w", "-o", "json"},
        {"local", "get", "pods", "a", "-A"},
        {"local", "get", "pods,cm", "-w"},
        {"local", "get", "pods", "a", "b", "-w"},
        {"local", "get", "pod/a", "pod/b", "-w"},
        {"local", "get", "pod/"},
        {"local", "delete"},
        {"local", "delete", "pods"},
        {"local", "delete", "pod", "a", "-f", "x"},
        {"local", "delete", "pod", "a", "--all"},
        {"local", "delete", "-f", "x", "-l", "a=b"},
        {"local", "describe", "pods"},
        {"local", "logs"},
        {"local", "logs", "a", "-l", "a=b"},
        {"local", "wait", "pod/a"},
        {"local", "wait", "pod/a", "--for=luck"},
        {"local", "wait", "pod", "--for=delete"},
        {"local", "wait", "pod/a", "--for=delete", "--timeout=soon"}}) {
    const auto command = parse_command(args);
    ASSERT_TRUE(command.is(Code::kInvalid)) << testing::PrintToString(args);
    EXPECT_FALSE(command.error().message.empty());
    EXPECT_EQ(command.error().message.find('\n'), std::string::npos);
  }
}

TEST(CommandLine, AnUnknownVerbIsNamedWithTheHelpThatListsTheOthers) {
  const auto sentence = [](const std::vector<std::string>& args) {
    return parse_command(args).error().message;
  };
  EXPECT_EQ(sentence({"locla", "up"}), "unknown verb 'locla': see 'paddlectl --help'");
  EXPECT_EQ(sentence({"local", "top"}), "unknown verb 'top': see 'paddlectl local --help'");
  EXPECT_THAT(sentence({"local", "events"}), HasSubstr("describe KIND NAME"));
  EXPECT_THAT(sentence({"local", "exec", "x"}), HasSubstr("paddlectl local logs"));
}

TEST(CommandLine, EveryVerbHasHelpWithExamples) {
  const auto help = [](std::vector<std::string> args) {
    args.emplace_back("--help");
    const auto command = parse_command(args);
    const auto* text = command ? std::get_if<ShowText>(&*command) : nullptr;
    return text ? text->text : std::string{};
  };
  EXPECT_THAT(help({}), HasSubstr("Examples:"));
  EXPECT_THAT(help({"local"}), HasSubstr("kubeconfig"));
  for (const char* verb : {"up", "down", "apply", "get", "describe", "logs", "delete", "wait",
                           "kubeconfig", "status"}) {
    const std::string text = help({"local", verb});
    EXPECT_THAT(text, HasSubstr("Examples:")) << verb;
    EXPECT_THAT(text, HasSubstr(std::string("paddlectl local ") + verb)) << verb;
    EXPECT_THAT(text, testing::Not(HasSubstr("report-fd"))) << verb;
  }
  EXPECT_THAT(help({"local", "status"}), HasSubstr("fromSource"));
}

TEST(CommandLine, VersionPrintsTheExactVersion) {
  EXPECT_EQ(*parse_command({"--version"}),
            Command(ShowText{std::string("paddlectl ") + kVersion + "\n"}));
}

TEST(ObjectNames, AreParsedFromAKindAndNamesOrFromPairs) {
  EXPECT_EQ(*parse_object_names({"pod", "a", "b"}),
            (std::vector<ObjectName>{{"pod", "a"}, {"pod", "b"}}));
  EXPECT_EQ(*parse_object_names({"pod/a", "pdj/b"}),
            (std::vector<ObjectName>{{"pod", "a"}, {"pdj", "b"}}));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"pod"}, {"pod/"}, {"/a"}, {"pod/a", "b"}}) {
    EXPECT_TRUE(parse_object_names(words).is(Code::kInvalid)) << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace paddle::cli
