// SPDX-License-Identifier: Apache-2.0
//
// `up --demo`: the tutorial on the local cluster, with its progress: samples are made, a SampleSet
// caches them, SampleJobs remove, sync, clear and warm up, and a PaddleJob reads them. Samples and
// manifests are in a directory beside that of the cluster (pods do not see the cluster's own), so
// that users can read and apply them again.

#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace paddle::cli {

// One manifest of the demo, and what is waited for after it is applied.
struct DemoStep {
  std::string title{};                 // "rmr: one class is removed from the set"
  std::string file{};                  // "rmr-job.yaml"
  std::string manifest{};              // YAML
  std::string object{};                // "samplejob/demo-rmr"
  std::string until{};                 // as in `wait --for`
  std::vector<std::string> figures{};  // conditions of the set that are met soon after, in order
};
std::vector<DemoStep> demo_steps(const std::string& samples);  // pure; `samples` is a directory

std::string demo_directory(const local::ClusterDirectory& cluster);

// The cluster runs. A demo that has begun is not repeated: one sentence says how.
Result<> run_demo(const CommonFlags& flags, const CommandContext& context);

}  // namespace paddle::cli
