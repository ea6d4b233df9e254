// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/spec/names.h"

#include "base/stable_hash.h"

namespace paddle::controllers::sample_job {

api::ObjectKey sample_set_of(const api::SampleJob& job) {
  return {job.meta.key.ns, job.spec.sample_set ? job.spec.sample_set->name : ""};
}

std::string finalizer_of(const api::SampleJob& job) {
  return "paddlepaddle.org/samplejob-" + job.meta.key.name;
}

std::string id_prefix(const api::Meta& meta) { return kJobIdPrefix + meta.uid.substr(0, 18) + "-"; }

std::string attempt_id(const api::Meta& meta, int failures) {
  return id_prefix(meta) + std::to_string(meta.generation) + "-" + std::to_string(failures);
}

std::string run_name(const api::SampleJob& job, WallTime due) {
  const auto minute = std::chrono::floor<std::chrono::minutes>(due).time_since_epoch().count();
  const std::string hash = stable_hash_hex(job.meta.uid + "/" + std::to_string(minute));
  return job.meta.key.name + "-" + hash.substr(0, 10);
}

}  // namespace paddle::controllers::sample_job
