// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/observe/elastic_store.h"

#include "controllers/paddle_job/spec/elastic.h"

namespace paddle::controllers::paddle_job {

Result<bool> keep_np(etcd::Store& store, const api::PaddleJob& job, std::stop_token stop) {
  const std::string key = np_key(job.meta.key);
  TRY(const auto seen, store.get(key, stop));
  const auto said = seen ? std::optional(seen->value) : std::nullopt;
  const auto wanted = np_to_write(job.spec, said);
  if (!wanted) return false;
  CHECK_DONE(store.put_if(key, *wanted, seen ? seen->revision : 0, stop));
  return true;
}

Result<> forget_elastic(etcd::Store& store, const api::ObjectKey& job, std::stop_token stop) {
  CHECK_DONE(store.remove_all(state_prefix(job), stop));
  CHECK_DONE(store.remove_all(round_prefix(job), stop));
  return store.remove(state_key(job), stop);
}

}  // namespace paddle::controllers::paddle_job
