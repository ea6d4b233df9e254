// SPDX-License-Identifier: Apache-2.0
//
// Whose an object is. Pure.

#pragma once

#include "api/core/meta.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// On everything that is made for a job: deleting the job takes it along.
api::OwnerReference owner_reference(const api::PaddleJob& job);

bool belongs_to(const api::Meta& kind, const api::PaddleJob& job);  // to this very one, by uid

}  // namespace paddle::controllers::paddle_job
