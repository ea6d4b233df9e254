// SPDX-License-Identifier: Apache-2.0
//
// Keeps what etcd says about an elastic job in step with the job. Each call reads, decides
// (elastic.h) and writes at most what differs; a retry is harmless.

#pragma once

#include "api/paddle_job.h"
#include "base/result.h"
#include "etcd/store.h"

namespace paddle::controllers::paddle_job {

// True when np was written: the moment for the event `Scaled`. A write that another one overtook
// is kConflict: come again.
Result<bool> keep_np(etcd::Store& store, const api::PaddleJob& job, std::stop_token stop = {});

// Removes every key of a job that has ended or is gone, and no other job's.
Result<> forget_elastic(etcd::Store& store, const api::ObjectKey& job, std::stop_token stop = {});

}  // namespace paddle::controllers::paddle_job
