// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/observe/elastic_store.h"

#include "controllers/paddle_job/spec/elastic.h"

namespace paddle::controllers::paddle_job {

Result<StoredReplicas> read_elastic_replicas(etcd::Store& store, const api::ObjectKey& job,
                                             std::stop_token stop) {
  TRY(const auto entry, store.get(np_key(job), stop));
  if (!entry) return StoredReplicas{.revision = 0};
  return StoredReplicas{.value = entry->value, .revision = entry->revision};
}

Result<> write_elastic_replicas(etcd::Store& store, const api::ObjectKey& job,
                                const std::string& value, std::int64_t revision,
                                std::stop_token stop) {
  return store.put_if(np_key(job), value, revision, stop);
}

Result<> remove_elastic_keys(etcd::Store& store, const api::ObjectKey& job, std::stop_token stop) {
  CHECK_DONE(store.remove_all(state_prefix(job), stop));
  CHECK_DONE(store.remove_all(round_prefix(job), stop));
  return store.remove(state_key(job), stop);
}

}  // namespace paddle::controllers::paddle_job
