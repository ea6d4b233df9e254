// SPDX-License-Identifier: Apache-2.0
//
// Carries out what a plan says, and tells users about it in events. Each call may be repeated:
// AlreadyExists with our owner is success, gone is deleted. Thread-safe.

#pragma once

#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/job_view.h"
#include "controllers/paddle_job/memory.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers {

class Hand {
 public:
  Hand(kube::Cluster& cluster, kube::EventRecorder& events, JobView& view)
      : cluster_(cluster), events_(events), view_(view) {}

  // All of it at once, as far as the server lets us. After a failure the rest is left for another
  // time, and memory.in_the_way says what was met, if the error's code does not.
  Result<> carry_out(const Wave& wave, const api::PaddleJob& job, JobMemory& memory,
                     const kube::Call& call);

  // Refused (kConflict) when the job has changed since it was seen.
  Result<> set_status(const api::PaddleJobStatus& status, const api::PaddleJob& job,
                      const kube::Call& call);

  void tell(const api::PaddleJob& job, kube::EventKind kind, const char* reason,
            std::string message);

 private:
  struct Deed;  // what became of one action
  Result<> act(const Action& action, const api::PaddleJob& job, Deed& deed, const kube::Call& call);
  Result<> create(const Create& a, const api::PaddleJob& job, Deed& deed, const kube::Call& call);
  Result<> adopt(const Create& a, const api::PaddleJob& job, Deed& deed, const kube::Call& call);
  Result<> remove(const Delete& a, Deed& deed, const kube::Call& call);
  Result<> replace(const Replace& a, const kube::Call& call);
  Result<> release(const Release& a, const kube::Call& call);
  Result<> patch(const Patch& a, const kube::Call& call);
  Result<> drop_finalizer(const api::PaddleJob& job, const kube::Call& call);
  Result<> delete_job(const api::PaddleJob& job, const kube::Call& call);
  void tell_of(const std::vector<Deed>& deeds, const api::PaddleJob& job, JobMemory& memory);
  void tell_of(const api::PaddleJobStatus& status, const api::PaddleJob& job);
  void warn_of_ipv6(const Create& map, const api::PaddleJob& job);

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  JobView& view_;
};

}  // namespace paddle::controllers
