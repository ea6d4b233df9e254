// SPDX-License-Identifier: Apache-2.0
#include "api/sample_job.h"

#include "api/sample_job_fields.h"
#include "api/schema/object_codec.h"

namespace paddle::api {

Result<SampleJob> decode_sample_job(const Json& object) {
  return codec::read_object<SampleJob>(object);
}
Json encode(const SampleJob& job) { return codec::write_object(job); }
Json encode(const SampleJobStatus& status) { return codec::write(status); }

}  // namespace paddle::api
