// SPDX-License-Identifier: Apache-2.0
//
// The printed output: table.cc, progress.cc, status_report.cc, and kubectl_setup().

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/describe.h"
#include "cli/kubeconfig.h"
#include "cli/progress.h"
#include "cli/status_report.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace paddle::cli {
namespace {

using api::Json;
using testing::HasSubstr;

Json table() {
  return {{"columnDefinitions", Json::array({{{"name", "Name"}, {"priority", 0}},
                                             {{"name", "Node"}, {"priority", 1}},
                                             {{"name", "Age"}, {"priority", 0}}})},
          {"rows", Json::array({{{"cells", Json::array({"a", "local", "5s"})},
                                 {"object", {{"metadata", {{"namespace", "x"}}}}}},
                                {{"cells", Json::array({"longer\nname", nullptr, 7})},
                                 {"object", {{"metadata", {{"namespace", "default"}}}}}}})}};
}

TEST(Table, IsAlignedAndOneLineForEachObject) {
  EXPECT_EQ(print_table(table(), {}), "NAME          AGE\na             5s\nlonger name   7\n");
}

TEST(Table, ShowsMoreColumnsWhenWide) {
  EXPECT_EQ(print_table(table(), {.wide = true, .with_namespace = true}),
            "NAMESPACE   NAME          NODE     AGE\n"
            "x           a             local    5s\n"
            "default     longer name   <none>   7\n");
  EXPECT_EQ(print_table(table(), {.heading = false}), "a             5s\nlonger name   7\n");
}

TEST(Table, IsEmptyWithoutRows) {
  EXPECT_EQ(print_table(Json::parse(R"({"rows": []})"), {}), "");
  EXPECT_EQ(print_table(nullptr, {}), "");
}

TEST(HumanBytes, UseBinaryUnits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes((std::int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(std::int64_t{12} << 30), "12.0 GiB");
}

TEST(ProgressBar, IsFullOnlyAtTheEnd) {
  EXPECT_EQ(bar(0, 10, 4), "[....]   0 %");
  EXPECT_EQ(bar(5, 10, 4), "[##..]  50 %");
  EXPECT_EQ(bar(9999, 10000, 4), "[###.]  99 %");
  EXPECT_EQ(bar(10, 10, 4), "[####] 100 %");
  EXPECT_EQ(bar(12, 10, 4), "[####] 100 %");
  EXPECT_EQ(bar(1, 0, 4), "[....]   0 %");
}

TEST(ProgressLine, ShowsTheCacheOfASampleSet) {
  Json set = Json::parse(R"({"kind": "SampleSet"})");
  EXPECT_EQ(progress_line(set), "Pending");
  set["status"] = {{"phase", "Ready"},
                   {"cacheStatus", {{"totalBytes", 2048}, {"cachedBytes", 1024}}}};
  EXPECT_EQ(progress_line(set), "Ready " + bar(1, 2) + ", 1.0 KiB of 2.0 KiB cached");
  set["status"]["phase"] = "SyncFailed";
  set["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"message", "no such bucket"}}});
  EXPECT_THAT(progress_line(set), HasSubstr(" cached: no such bucket"));
}

TEST(ProgressLine, ShowsThePodsOfAPaddleJob) {
  const Json job{
      {"kind", "PaddleJob"},
      {"spec", {{"worker", {{"replicas", 2}}}, {"ps", {{"replicas", 1}}}}},
      {"status",
       {{"phase", "Starting"},
        {"worker", {{"running", 1}, {"succeeded", 1}}},
        {"conditions", Json::array({{{"type", "Ready"}, {"message", "waits for x"}}})}}}};
  EXPECT_EQ(progress_line(job), "Starting, 1 of 3 pods running, 1 ended: waits for x");
}

TEST(ProgressLine, OfAJobThatHasEndedCountsNoRunningPods) {
  Json job{{"kind", "PaddleJob"},
           {"spec", {{"worker", {{"replicas", 2}}}, {"ps", {{"replicas", 2}}}}},
           {"status",
            {{"phase", "Completed"},
             {"ps", {{"running", 2}}},
             {"worker", {{"succeeded", 2}}},
             {"conditions", Json::array({{{"type", "Ready"}, {"message", "it ended"}}})}}}};
  EXPECT_EQ(progress_line(job), "Completed");
  job["status"]["phase"] = "Failed";
  EXPECT_EQ(progress_line(job), "Failed: it ended");
}

TEST(Description, HasTheObjectAndItsEventsInTheirOrder) {
  const auto event = [](const char* time, const char* message) {
    return Json{{"lastTimestamp", time}, {"type", "Normal"}, {"reason", "R"}, {"message", message}};
  };
  const Json object{{"kind", "Secret"},
                    {"metadata", {{"name", "keys"}, {"managedFields", Json::array()}}},
                    {"data", {{"a", "c2VjcmV0"}}}};
  const std::string text = description(object, {event("2026-01-01T00:00:02Z", "second\nline"),
                                                event("2026-01-01T00:00:01Z", "first")});
  EXPECT_THAT(text, HasSubstr("name: keys"));
  EXPECT_THAT(text, testing::Not(HasSubstr("managedFields")));
  EXPECT_THAT(text, testing::Not(HasSubstr("c2VjcmV0")));
  EXPECT_LT(text.find("first"), text.find("second line"));
  EXPECT_THAT(description(object, {}), HasSubstr("no events"));
}

TEST(Terminal, OverwritesProgressOnlyOnATerminal) {
  std::string live, plain;
  const auto to = [](std::string& text) {
    return [&text](std::string_view piece) { text += piece; };
  };
  {
    Terminal screen(to(live), to(live), 8), file(to(plain), to(plain), 0);
    for (Terminal* each : {&screen, &file}) {
      each->progress("1 %");
      each->progress("1 %");
      each->progress("22 % of much");
      each->line("done");
    }
  }
  EXPECT_EQ(live, "\r\x1b[K1 %\r\x1b[K22 % of\r\x1b[Kdone\n");
  EXPECT_EQ(plain, "1 %\n22 % of much\ndone\n");
}

ClusterReport report() {
  ClusterReport made{.running = true, .directory = "/d", .pid = 7, .url = "https://h:1"};
  made.nodes.push_back(Json::parse(R"({"metadata": {"name": "local"}, "status": {
      "conditions": [{"type": "Ready", "status": "True"}],
      "addresses": [{"type": "InternalIP", "address": "10.7.0.1"}]}})"));
  made.pods.push_back(Json::parse(R"({"status": {"phase": "Running"}})"));
  made.pods.push_back(Json::parse(R"({"status": {"phase": "Failed"}})"));
  made.paddle_jobs.push_back(
      Json::parse(R"({"kind": "PaddleJob", "metadata": {"namespace": "a", "name": "j"}})"));
  runtime::StatusReport one{.index = runtime::IndexReport{.files = 9, .bytes = 4096}};
  one.cache = {.files = 3, .bytes = 1024, .limit = 1 << 20};
  one.reads = {.from_cache = 10, .from_memory = 20, .from_source = 30, .downloaded = 40};
  one.mounts = 1;
  made.sample_sets = {{.object = {{"kind", "SampleSet"},
                                  {"metadata", {{"namespace", "a"}, {"name", "s"}}},
                                  {"status", {{"phase", "Ready"}}}},
                       .runtimes = {{.pod = "s-runtime-0", .report = one},
                                    {.pod = "s-runtime-1", .report = one},
                                    {.pod = "s-runtime-2", .error = "refused"}}}};
  return made;
}

TEST(StatusReport, JsonHasTheDocumentedFields) {
  const Json made = to_json(report());
  EXPECT_EQ(made["nodes"][0], (Json{{"name", "local"}, {"ready", true}, {"address", "10.7.0.1"}}));
  EXPECT_EQ(made["pods"]["total"], 2);
  EXPECT_EQ(made["pods"]["running"], 1);
  EXPECT_EQ(made["paddleJobs"][0]["name"], "j");
  const Json& set = made["sampleSets"][0];
  EXPECT_EQ(set["phase"], "Ready");
  EXPECT_EQ(set["totalBytes"], 4096) << "every runtime sees the same index";
  EXPECT_EQ(set["totalFiles"], 9);
  EXPECT_EQ(set["cachedBytes"], 2048);
  EXPECT_EQ(set["cachedFiles"], 6);
  EXPECT_EQ(set["reads"],
            (Json{{"fromCache", 20}, {"fromMemory", 40}, {"fromSource", 60}, {"downloaded", 80}}));
  EXPECT_EQ(set["runtimes"][1]["reads"]["fromSource"], 30);
  EXPECT_EQ(set["runtimes"][2]["error"], "refused");
  EXPECT_EQ(to_json({.directory = "/d"}), (Json{{"running", false}, {"directory", "/d"}}));
}

TEST(StatusReport, TextShowsTheSameValues) {
  const std::string text = to_text(report());
  EXPECT_THAT(text, HasSubstr("ready, 10.7.0.1"));
  EXPECT_THAT(text, HasSubstr("2.0 KiB of 4.0 KiB"));
  EXPECT_THAT(text, HasSubstr("s-runtime-2 does not answer: refused"));
}

TEST(KubectlSetup, CopiesTheKubeconfigForAUserOfSudo) {
  const local::ClusterDirectory directory{.path = "/data/paddle"};
  EXPECT_EQ(kubectl_setup(directory, false, false), "export KUBECONFIG=/data/paddle/kubeconfig");
  const std::string copy = kubectl_setup(directory, false, true);
  EXPECT_THAT(copy, HasSubstr("umask 077; sudo paddlectl local kubeconfig --directory /data/paddle "
                              "> ~/.paddle-local.kubeconfig"));
  EXPECT_THAT(copy, HasSubstr("export KUBECONFIG=~/.paddle-local.kubeconfig"));
  EXPECT_EQ(kubectl_setup(directory, true, true).find("--directory"), std::string::npos);
}

}  // namespace
}  // namespace paddle::cli
