// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/cache_coverage.h"

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "samplefs/listed_index.h"
#include "source/memory_source.h"

namespace paddle::engine::samplefs {
namespace {

namespace data = ::paddle::samplefs;

TEST(CacheCoverage, TheLatestAmountIsReturnedWithoutAWalkAndAChangeMakesItStale) {
  const Scratch scratch;
  source::MemorySource source;
  for (const char* path : {"a", "b", "c"}) source.put(path, std::string(1000, 'x'));
  const auto index = *data::sync_index(source, scratch.path() + "/index", 1, {});
  const auto store = *data::Store::open({.directory = scratch.path() + "/cache", .limit = 1 << 20});
  const auto cache = [&](const char* path) {
    const std::string bytes(1000, 'x');
    const auto entry = index->at(*index->resolve(path));
    ASSERT_TRUE(store->put(index->block(entry, path, 0), std::as_bytes(std::span(bytes))));
  };
  CacheCoverage coverage;
  EXPECT_TRUE(coverage.is_stale(index, *store));
  cache("a");
  EXPECT_EQ(coverage.last().files, 0) << "nothing was measured";
  coverage.measure(index, *store);
  EXPECT_EQ(coverage.last().files, 1);
  EXPECT_EQ(coverage.last().bytes, 1000);
  EXPECT_FALSE(coverage.is_stale(index, *store));
  cache("b");
  EXPECT_EQ(coverage.last().files, 1) << "not measured again by asking";
  EXPECT_TRUE(coverage.is_stale(index, *store));
  coverage.measure(index, *store);
  EXPECT_EQ(coverage.last().files, 2);
  store->clear();
  EXPECT_TRUE(coverage.is_stale(index, *store));
  coverage.measure(index, *store);
  EXPECT_EQ(coverage.last().bytes, 0);
}

}  // namespace
}  // namespace paddle::engine::samplefs
