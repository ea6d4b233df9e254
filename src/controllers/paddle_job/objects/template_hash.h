// SPDX-License-Identifier: Apache-2.0
//
// Identifies the part of a spec that one pod was built from: the template and restartPolicy of its
// role, its rank, intranet and sampleSetRef. Not what the operator adds: a new operator version
// restarts nothing. Pure.
//
// Stored with running pods: a change of its input would announce an edit of every running job.

#pragma once

#include <string>

#include "api/paddle_job.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {

class TemplateHash {
 public:
  // `group` is a group of the job.
  TemplateHash(const api::PaddleJob& job, const ReplicaGroup& group);

  std::string of_pod(int index) const;

 private:
  std::string group_{};  // what all pods of the group have in common
  int first_trainer_ = 0;
  std::string first_worker_{};  // the list of peers in the environment of worker 0; else empty
};

}  // namespace paddle::controllers::paddle_job
