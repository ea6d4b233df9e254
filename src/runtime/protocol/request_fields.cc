// SPDX-License-Identifier: Apache-2.0
#include "runtime/protocol/request_fields.h"

#include <algorithm>

#include "engine/names.h"
#include "runtime/protocol/protocol.h"

namespace paddle::runtime {

sampler::Strategy strategy_of(const api::Strategy& from) {
  sampler::Strategy out{.batch_size = from.batch_size.value_or(0),
                        .ranks = static_cast<std::int32_t>(
                            std::clamp<std::int64_t>(from.ranks.value_or(0), 0, INT32_MAX)),
                        .epoch = from.epoch.value_or(0),
                        .shuffle = from.shuffle.value_or(false),
                        .drop_last = from.drop_last.value_or(false)};
  if (from.name == "random") out.order = sampler::Order::kRandom;
  if (from.name == "distributedBatch") out.order = sampler::Order::kDistributedBatch;
  if (from.seed) out.seed = static_cast<std::uint32_t>(*from.seed);
  return out;
}

std::string lists_address(const api::SampleSet& set) {
  return engine::runtime_pod_name(set, 0) + "." + engine::service_name(set) + "." +
         set.meta.key.ns + ":" + std::to_string(kPort);
}

}  // namespace paddle::runtime
