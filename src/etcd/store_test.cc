// SPDX-License-Identifier: Apache-2.0
#include "etcd/failing_store.h"
#include "etcd/memory_store.h"
#include "etcd/store_suite.h"

namespace paddle::etcd {
namespace {

struct Sound {
  MemoryStore memory{};
  FailingStore failing{memory, [](int) { return FailingStore::Fault::kWorks; }};
};

std::shared_ptr<Store> failing_that_works() {
  const auto both = std::make_shared<Sound>();
  return {both, &both->failing};
}

INSTANTIATE_TEST_SUITE_P(
    InProcess, StoreSuite,
    testing::Values(StoreTarget{"Memory", [] { return std::make_shared<MemoryStore>(); }},
                    StoreTarget{"FailingThatWorks", failing_that_works}),
    [](const auto& one) { return one.param.name; });

TEST(FailingStore, FailsBeforeTheEffectOrAfterIt) {
  using Fault = FailingStore::Fault;
  MemoryStore memory;
  FailingStore store(memory, [](int call) {
    return call == 0 ? Fault::kFailsBefore : call == 1 ? Fault::kFailsAfter : Fault::kWorks;
  });
  EXPECT_TRUE(store.put("a", "1", {}).is(Code::kUnavailable));
  EXPECT_FALSE((*memory.get("a", {})).has_value());
  EXPECT_TRUE(store.put("a", "1", {}).is(Code::kDeadline));
  EXPECT_EQ((**memory.get("a", {})).value, "1");
  EXPECT_TRUE(store.put("a", "2", {}));
  EXPECT_EQ(store.calls(), 3);
}

}  // namespace
}  // namespace paddle::etcd
