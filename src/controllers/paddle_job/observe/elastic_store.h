// SPDX-License-Identifier: Apache-2.0
//
// The keys of elastic jobs in etcd (spec/elastic.h): reads and writes, one function each. Every
// call may be repeated.

#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "api/core/meta.h"
#include "base/result.h"
#include "controllers/paddle_job/world.h"
#include "etcd/store.h"

namespace paddle::controllers::paddle_job {

Result<StoredReplicas> read_elastic_replicas(etcd::Store& store, const api::ObjectKey& job,
                                             std::stop_token stop = {});

// kConflict when the key has changed since `revision` (0: when it exists).
Result<> write_elastic_replicas(etcd::Store& store, const api::ObjectKey& job,
                                const std::string& value, std::int64_t revision,
                                std::stop_token stop = {});

// Removes every key of this job, and of no other.
Result<> remove_elastic_keys(etcd::Store& store, const api::ObjectKey& job,
                             std::stop_token stop = {});

}  // namespace paddle::controllers::paddle_job
