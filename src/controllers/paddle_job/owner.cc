// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/owner.h"

namespace paddle::controllers::paddle_job {

api::OwnerReference owner_reference(const api::PaddleJob& job) {
  return {.api_version = api::PaddleJob::kApiVersion,
          .kind = api::PaddleJob::kKind,
          .name = job.meta.key.name,
          .uid = job.meta.uid,
          .controller = true,
          .block_owner_deletion = true};
}

bool belongs_to(const api::Meta& kind, const api::PaddleJob& job) {
  const auto* owner = kind.controller();
  return owner && owner->uid == job.meta.uid;
}

}  // namespace paddle::controllers::paddle_job
