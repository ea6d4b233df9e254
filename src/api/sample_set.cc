// SPDX-License-Identifier: Apache-2.0
#include "api/sample_set.h"

#include "api/sample_set_fields.h"
#include "api/schema/object_codec.h"

namespace paddle::api {

Result<SampleSet> decode_sample_set(const Json& object) {
  return codec::read_object<SampleSet>(object);
}
Json encode(const SampleSet& set) { return codec::write_object(set); }
Json encode(const SampleSetStatus& status) { return codec::write(status); }

}  // namespace paddle::api
