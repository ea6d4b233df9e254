// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/observe/reconcile_cache.h"

#include <utility>

#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;

constexpr int kBigJob = 50;  // pods
constexpr auto kPausePerPod = 200us;
constexpr size_t kManyJobs = 4;
constexpr auto kBusyFor = 1s;

}  // namespace

void JobCache::keep_completed(const api::PaddleJob& job, const Plan& plan) {
  last_completed = completed_indexes_of(plan.status ? *plan.status : job.status);
  last_completed_uid = job.meta.uid;
}

void Pass::fail_etcd(Error error) {
  trouble = BlockReason{reasons::kEtcdUnavailable, error.message};
  etcd_error = std::move(error);
}

JobCache& ReconcileCache::of(const api::ObjectKey& key) {
  Lock lock(mutex_);
  return jobs_[key];
}

JobCache ReconcileCache::forget(const api::ObjectKey& key) {
  Lock lock(mutex_);
  const auto found = jobs_.extract(key);
  return found ? found.mapped() : JobCache{};
}

std::optional<std::chrono::nanoseconds> PassPacing::begin(const api::PaddleJob& job,
                                                          JobCache& cache) {
  const BootTime now = clock_.boot();
  const int pods = total_replicas(job.spec);
  if (pods >= kBigJob && cache.last_pass && now < *cache.last_pass + pods * kPausePerPod) {
    return *cache.last_pass + pods * kPausePerPod - now;
  }
  cache.last_pass = now;
  if (queue_.depth() + queue_.running() >= kManyJobs) {
    busy_until_ = clock_.boot() + kBusyFor;
    events_.give_way(kBusyFor);
  }
  return std::nullopt;
}

}  // namespace paddle::controllers::paddle_job
