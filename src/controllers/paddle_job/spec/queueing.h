// SPDX-License-Identifier: Apache-2.0
//
// Jobs and pods that a queue (Kueue) starts: those with its label. Pure.
//
//   label queue-name of the job        the job is suspended once, before its first pods; the queue
//                                      resumes it, and suspends it again to preempt it, which is
//                                      not counted as a disruption
//   label queue-name of the templates  Kueue queues the pods themselves: they get what makes them
//                                      one group, which is admitted as a whole

#pragma once

#include <string>

#include "api/json/json.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// The queue of the job itself; empty: none.
std::string queue_of(const api::PaddleJob& job);

// The job names a queue, has not begun, and has not been suspended for the queue yet.
bool must_wait_for_queue(const api::PaddleJob& job);

// For a pod whose template names a queue: the group of all such pods of this epoch.
void join_queue_group(api::Json& pod, const api::PaddleJob& job);

}  // namespace paddle::controllers::paddle_job
