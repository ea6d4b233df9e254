// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/observe/elastic_store.h"

#include <gtest/gtest.h>

#include "controllers/paddle_job/spec/elastic.h"
#include "etcd/failing_store.h"
#include "etcd/memory_store.h"

namespace paddle::controllers::paddle_job {
namespace {

const api::ObjectKey kJob{"t", "r"};

// What a pass does: reads, decides, and writes at most what differs. True: it has written.
Result<bool> sync_replicas(etcd::Store& store, int workers) {
  api::PaddleJobSpec spec;
  spec.worker = api::Role{.replicas = workers};
  spec.elastic = 1;
  TRY(const StoredReplicas stored, read_elastic_replicas(store, kJob));
  const auto value = np_to_write(spec, stored.value);
  if (!value) return false;
  CHECK_DONE(write_elastic_replicas(store, kJob, *value, *stored.revision));
  return true;
}

std::string np_in(etcd::Store& store) {
  const auto found = store.get("/paddle/t-r/np");
  return found && *found ? (**found).value : "(none)";
}

TEST(ElasticStore, NpFollowsTheReplicasAndIsWrittenOnlyOnChange) {
  etcd::MemoryStore store;
  EXPECT_TRUE(*sync_replicas(store, 3));
  EXPECT_FALSE(*sync_replicas(store, 3));
  EXPECT_TRUE(*sync_replicas(store, 4));
  EXPECT_EQ(np_in(store), "4");
  ASSERT_TRUE(store.remove_all("/paddle/t-r", {}));  // as Paddle's own manager does
  EXPECT_TRUE(*sync_replicas(store, 4));
  EXPECT_EQ(np_in(store), "4");
}

TEST(ElasticStore, RemovingTheKeysOfAJobLeavesThoseOfOtherJobs) {
  etcd::MemoryStore store;
  for (const char* key : {"/paddle/t-r", "/paddle/t-r/np", "/paddle/t-r/nodes/x", "/t-r/info/a/-1",
                          "/paddle/t-r2", "/paddle/t-r2/np", "/t-r2/info/b/-1", "/t-r/notes"}) {
    ASSERT_TRUE(store.put(key, "1", {}));
  }
  ASSERT_TRUE(remove_elastic_keys(store, kJob));
  std::string left;
  const auto listed = store.list("/", {});
  for (const auto& entry : *listed) left += entry.key + " ";
  EXPECT_EQ(left, "/paddle/t-r2 /paddle/t-r2/np /t-r/notes /t-r2/info/b/-1 ");
}

TEST(ElasticStore, ConvergesWhicheverCallFails) {
  using Fate = etcd::FailingStore::Fault;
  for (const Fate fate : {Fate::kFailsBefore, Fate::kFailsAfter}) {
    for (int failing = 0; failing < 4; ++failing) {
      etcd::MemoryStore memory;
      etcd::FailingStore store(memory,
                               [&](int call) { return call == failing ? fate : Fate::kWorks; });
      for (int attempt = 0; attempt < 3; ++attempt) {
        if (const auto written = sync_replicas(store, 3); !written) {
          EXPECT_TRUE(written.error().retryable());
        }
      }
      EXPECT_EQ(np_in(memory), "3");
      etcd::FailingStore again(memory,
                               [&](int call) { return call == failing ? fate : Fate::kWorks; });
      while (!remove_elastic_keys(again, kJob)) {
      }
      EXPECT_EQ(np_in(memory), "(none)");
    }
  }
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
