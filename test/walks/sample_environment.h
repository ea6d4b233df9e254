// SPDX-License-Identifier: Apache-2.0
//
// What a SampleSet needs beside its operator, one step at a time: the controllers of a cluster that
// bind volumes and make the pods of StatefulSets, kubelets, and runtimes that do their jobs.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "kube/cluster.h"
#include "runtime/runtime_polls.h"
#include "runtime/runtime_sends.h"

namespace paddle::walks {

// Runtimes by their addresses. A job has succeeded when it is polled for the second time.
class StepRuntimes {
 public:
  runtime::RuntimePolls polls();
  runtime::RuntimeSends sends();
  // What the runtimes were asked to do, each job once: for SampleJobs the requests without ids.
  std::vector<std::string> requests() const EXCLUDES(mutex_);
  void forget_requests() EXCLUDES(mutex_);
  // Until this is false again no job ends.
  void stop_working(bool stopped) EXCLUDES(mutex_);

 private:
  runtime::PollReport poll(const runtime::PollCall& call) EXCLUDES(mutex_);
  void send(const runtime::JobCall& call) EXCLUDES(mutex_);

  mutable Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool synced_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::map<std::string, runtime::JobReport>> jobs_ GUARDED_BY(mutex_){};
  std::set<std::string> seen_ GUARDED_BY(mutex_){};
  std::vector<std::string> requests_ GUARDED_BY(mutex_){};
};

// One step of everything else.
void run_environment(kube::Cluster& cluster);

// An object with its status.
void make_object(kube::Cluster& cluster, const kube::Resource& resource, kube::Json object);

}  // namespace paddle::walks
