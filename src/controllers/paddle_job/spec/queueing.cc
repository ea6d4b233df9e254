// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/queueing.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {
namespace {

std::string queue_in(const api::Json& labels) { return api::look_text(labels, kQueueLabel); }

int pods_in_queue(const api::PaddleJobSpec& spec) {
  int count = 0;
  for (const ReplicaGroup& group : replica_groups(spec)) {
    if (!group.pod_template) continue;
    if (!queue_in(api::look(*group.pod_template, "/metadata/labels")).empty()) {
      count += group.replicas;
    }
  }
  return count;
}

}  // namespace

std::string queue_of(const api::PaddleJob& job) {
  const auto found = job.meta.labels.find(kQueueLabel);
  return found == job.meta.labels.end() ? std::string() : found->second;
}

bool must_wait_for_queue(const api::PaddleJob& job) {
  return !queue_of(job).empty() && !job.spec.suspend && job.status.phase.empty() &&
         !job.meta.annotations.contains(kQueuedAnnotation);
}

void join_queue_group(api::Json& pod, const api::PaddleJob& job) {
  api::Json& meta = pod["metadata"];
  if (queue_in(api::look(meta, "labels")).empty()) return;
  // A group of Kueue has a fixed size and is used once: each epoch is another one.
  meta["labels"][kQueueGroupLabel] = job.meta.key.name + "-" + std::to_string(job.status.epoch);
  meta["annotations"][kQueueGroupSize] = std::to_string(pods_in_queue(job.spec));
}

}  // namespace paddle::controllers::paddle_job
