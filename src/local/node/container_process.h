// SPDX-License-Identifier: Apache-2.0
//
// One running container, controlled by its pidfd (never by name or by a pid that may have been
// reused). It ends with the thread that started it: the kernel kills it when that thread, or the
// whole node, dies. Not thread-safe.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "local/node/container_plan.h"

namespace paddle::local {

class ContainerProcess {
 public:
  // `program` is this very program (it becomes `container-init`); output goes to the end of `log`.
  // Returns once the user's command runs; otherwise the error is one sentence.
  static Result<ContainerProcess> start(const std::string& program, const ContainerPlan& plan,
                                        const std::string& log);
  ContainerProcess(ContainerProcess&&) = default;
  ContainerProcess& operator=(ContainerProcess&&) = default;
  ~ContainerProcess();  // kills what still runs

  int pid_fd() const { return pid_fd_.get(); }  // readable when it has ended
  std::optional<int> try_wait();                // exit code once it has ended
  void signal(int number);
  void kill();  // kills all its processes; they are gone when it has ended

 private:
  ContainerProcess(int pid, UniqueFd pid_fd) : pid_(pid), pid_fd_(std::move(pid_fd)) {}
  int pid_ = -1;
  UniqueFd pid_fd_;
};

// The process that holds a pod's network namespace.
class PodPause {
 public:
  static Result<PodPause> start(const std::string& program);
  PodPause(PodPause&&) = default;
  PodPause& operator=(PodPause&&) = default;
  ~PodPause();

  int pid() const { return pid_; }
  std::string network_path() const { return "/proc/" + std::to_string(pid_) + "/ns/net"; }

 private:
  PodPause(int pid, UniqueFd pid_fd) : pid_(pid), pid_fd_(std::move(pid_fd)) {}
  int pid_ = -1;
  UniqueFd pid_fd_;
};

}  // namespace paddle::local
