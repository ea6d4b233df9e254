// SPDX-License-Identifier: Apache-2.0
#include "cli/demo.h"

#include <filesystem>
#include <fstream>

#include "cli/apply.h"
#include "cli/get.h"
#include "cli/logs.h"
#include "cli/wait.h"

namespace paddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kClasses = 4;
constexpr int kPerClass = 30;
constexpr std::size_t kSampleBytes = std::size_t{64} << 10;
constexpr int kLongestStep = 300;  // seconds
constexpr const char* kDone = "done";

std::string sample_job(const std::string& type, const std::string& more = "") {
  return "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\nmetadata:\n  name: demo-" +
         type + "\nspec:\n  type: " + type + "\n  sampleSetRef:\n    name: demo\n" + more;
}

DemoStep sample_job_step(const std::string& type, const std::string& what,
                         std::vector<std::string> figures, const std::string& more = "") {
  return {.title = "SampleJob " + type + ": " + what,
          .file = type + "-job.yaml",
          .manifest = sample_job(type, more),
          .object = "samplejob/demo-" + type,
          .until = "phase=Succeeded",
          .figures = std::move(figures)};
}

Result<> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return Done{};
  return Error{Code::kUnavailable, "cannot write " + path + "; is the disk full?"};
}

// The same bytes each time; every file has others.
std::string sample(unsigned number) {
  std::string bytes(kSampleBytes, '\0');
  unsigned state = number + 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

Result<> write_samples(const std::string& directory) {
  std::error_code error;
  for (int label = 0; label < kClasses; ++label) {
    const std::string place = directory + "/n0" + std::to_string(label);
    fs::create_directories(place, error);
    for (int i = 0; i < kPerClass; ++i) {
      const int number = label * kPerClass + i;
      CHECK_DONE(write_text(place + "/" + std::to_string(number) + ".jpg",
                            sample(static_cast<unsigned>(number))));
    }
  }
  return Done{};
}

Result<> wait_for(const CommonFlags& flags, const std::string& object, const std::string& until,
                  const CommandContext& context) {
  TRY(const WaitCondition condition, parse_wait_condition(until));
  return run(Wait{.flags = flags,
                  .words = {object},
                  .condition = condition,
                  .timeout_seconds = kLongestStep},
             context);
}

Result<> run_step(const DemoStep& step, const std::string& file, const CommonFlags& flags,
                  const CommandContext& context) {
  CHECK_DONE(write_text(file, step.manifest));
  CHECK_DONE(run(Apply{.flags = flags, .files = {file}}, context));
  CHECK_DONE(wait_for(flags, step.object, step.until, context));
  for (const std::string& figure : step.figures) {
    CHECK_DONE(wait_for(flags, "sampleset/demo", figure, context));
  }
  return run(Get{.flags = flags, .words = {"sampleset", "demo"}}, context);
}

}  // namespace

std::vector<DemoStep> demo_steps(const std::string& samples) {
  const int all = kClasses * kPerClass;
  const auto files = [](int count) {
    return "jsonpath={.status.cacheStatus.totalFiles}=" + std::to_string(count);
  };
  return {{.title = "SampleSet: " + std::to_string(all) + " samples of " + samples + " are cached",
           .file = "sampleset.yaml",
           .manifest = "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleSet\nmetadata:\n"
                       "  name: demo\nspec:\n  partitions: 1\n  source:\n    uri: \"file://" +
                       samples + "\"\n",
           .object = "sampleset/demo",
           .until = "cached"},
          sample_job_step("rmr", "one class is removed from the set, not from the source",
                          {files(all - kPerClass)}, "  rmrOptions:\n    paths:\n      - n00\n"),
          // Its automatic warm-up must have ended before `clear`.
          sample_job_step("sync", "it is back, and warmed up by itself", {files(all), "cached"}),
          sample_job_step("clear", "nothing is cached any more",
                          {"jsonpath={.status.cacheStatus.cachedSize}=0 B"}),
          sample_job_step("warmup", "all of it is cached again", {"cached"}),
          {.title = "PaddleJob: two workers read every sample",
           .file = "paddlejob.yaml",
           .manifest =
               "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata:\n"
               "  name: demo\nspec:\n  cleanPodPolicy: Never\n  sampleSetRef:\n"
               "    name: demo\n    mountPath: /mnt/samples\n  worker:\n    replicas: 2\n"
               "    template:\n      spec:\n        containers:\n          - name: read\n"
               "            image: busybox:1.35   # not pulled: pods see this machine's programs\n"
               "            command:\n              - sh\n              - -c\n"
               "              - find /mnt/samples -type f | wc -l; cat /mnt/samples/*/* | wc -c\n",
           .object = "paddlejob/demo",
           .until = "phase=Completed"}};
}

std::string demo_directory(const local::ClusterDirectory& cluster) {
  return cluster.path + "-demo";
}

Result<> run_demo(const CommonFlags& flags, const CommandContext& context) {
  const std::string directory = demo_directory(flags.cluster_directory());
  std::error_code error;
  if (fs::exists(directory, error)) {
    const bool done = fs::exists(directory + "/" + kDone, error);
    context.terminal.line(std::string("The demo has ") + (done ? "run" : "begun and not ended") +
                          "; its manifests are in " + directory +
                          ". To see it from the start: 'paddlectl local delete -f " + directory +
                          "', then remove that directory.");
    return Done{};
  }
  fs::create_directories(directory + "/samples", error);
  if (error) return Error{Code::kUnavailable, "create " + directory + ": " + error.message()};
  CHECK_DONE(write_samples(directory + "/samples"));
  const auto steps = demo_steps(directory + "/samples");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    context.terminal.line("[" + std::to_string(i + 1) + "/" + std::to_string(steps.size()) + "] " +
                          steps[i].title);
    CHECK_DONE(run_step(steps[i], directory + "/" + steps[i].file, flags, context));
  }
  CHECK_DONE(run(Logs{.flags = flags, .target = "paddlejob/demo"}, context));
  context.terminal.line("The manifests are in " + directory + ".");
  return write_text(directory + "/" + kDone, "");
}

}  // namespace paddle::cli
