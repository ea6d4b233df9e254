// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/cache_limit.h"

#include "base/units.h"
#include "controllers/sample_set/decide/reasons.h"

namespace paddle::controllers::sample_set {
namespace {

std::string size_of(std::int64_t mib) { return human_size(mib << 20); }

}  // namespace

BlockReason cache_limit_blocks(const api::SampleSet& set, const World& world, const Config& config,
                               std::int64_t mib) {
  const std::int32_t wanted = set.spec.effective_partitions();
  const std::int32_t running = world.runtimes ? world.runtimes->replicas : 0;
  const std::int64_t limit = config.namespace_cache_mib;
  if (limit <= 0 || wanted <= running) return {};
  if (world.cache_mib_of_others + mib * wanted <= limit) return {};
  return {reason::kCacheLimit,
          "the caches of this set may have " + size_of(mib * wanted) + " (" +
              std::to_string(wanted) + " x " + size_of(mib) + ") and those of other sets in " +
              set.meta.key.ns + " " + size_of(world.cache_mib_of_others) + ", but only " +
              size_of(limit) +
              " are allowed together; set a smaller cacheSize in spec.cache.levels or fewer "
              "partitions, delete another set, or ask the administrator for "
              "--namespace-cache-limit of the operator"};
}

std::string namespace_cache(const api::SampleSet& set, const World& world, const Config& config,
                            std::int64_t mib) {
  if (config.namespace_cache_mib <= 0) return "";
  const std::int32_t running = world.runtimes ? world.runtimes->replicas : 0;
  return size_of(world.cache_mib_of_others +
                 mib * (running > 0 ? running : set.spec.effective_partitions())) +
         " of " + size_of(config.namespace_cache_mib);
}

}  // namespace paddle::controllers::sample_set
