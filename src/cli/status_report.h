// SPDX-License-Identifier: Apache-2.0
//
// Formats the output of `status`: text for people, JSON for programs. The JSON format is stable
// (kStatusJsonHelp); fields may be added. Pure.

#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>  // ClusterReport holds some

#include "api/json/json.h"
#include "cli/runtime_reports.h"

namespace paddle::cli {

struct SampleSetReport {
  api::Json object{};
  std::vector<RuntimeReport> runtimes{};
};

struct ClusterReport {
  bool running = false;
  std::string directory{};
  int pid = 0;
  std::string url{};
  std::string kubeconfig{};
  std::vector<api::Json> nodes{};
  std::vector<api::Json> pods{};
  std::vector<api::Json> paddle_jobs{};
  std::vector<SampleSetReport> sample_sets{};
};

inline constexpr const char* kStatusJsonHelp =
    R"(JSON (bytes and files are numbers; fields may be added):
  running, directory, pid, url, kubeconfig
  nodes[]       name, ready, address
  pods          total and by phase: running, pending, succeeded, failed
  paddleJobs[]  namespace, name, phase, message
  sampleSets[]  namespace, name, phase, message,
                totalBytes, totalFiles, cachedBytes, cachedFiles   (of all runtimes),
                reads {fromCache, fromMemory, fromSource, downloaded}   (of all runtimes),
                runtimes[]  pod, error, mounts, cachedBytes, cachedFiles, limitBytes,
                            totalBytes, totalFiles, reads {as above})";

api::Json to_json(const ClusterReport& report);
std::string to_text(const ClusterReport& report);

}  // namespace paddle::cli
