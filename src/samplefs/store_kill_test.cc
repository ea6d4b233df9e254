// SPDX-License-Identifier: Apache-2.0
//
// A process that fills a store is killed at random times. The next one opens the store and never
// serves a wrong byte.
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/scratch.h"
#include "samplefs/filler.h"
#include "samplefs/listed_index.h"
#include "samplefs/sample_files.h"
#include "source/memory_source.h"

namespace paddle::samplefs {
namespace {

class StoreKillTest : public testing::Test {
 protected:
  StoreKillTest() {
    std::mt19937 random(5);
    for (int i = 0; i < 300; ++i) {
      std::string bytes(random() % 60'000 + 1, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      truth_["f" + std::to_string(i)] = bytes;
      memory_.put("f" + std::to_string(i), bytes);
    }
  }
  std::string index_file() const { return scratch_.path() + "/index"; }
  std::unique_ptr<Store> open() const {
    auto store = Store::open({.directory = scratch_.path() + "/cache", .limit = 1 << 30});
    return store ? *std::move(store) : nullptr;
  }
  [[noreturn]] void fill_until_killed() {
    auto index = sync_index(memory_, index_file(), 1, {});
    auto store = open();
    if (!index || !store) ::_exit(1);
    ReadThrough data(store.get(), memory_);
    for (;;) {
      if (!Filler(*index, data, {.workers = 3}).run({})) ::_exit(2);
      store->clear();  // and again: there is always something being written
    }
  }

  Scratch scratch_;
  source::MemorySource memory_;
  std::map<std::string, std::string> truth_;
};

TEST_F(StoreKillTest, AKilledWriterLeavesNoWrongBlock) {
  std::mt19937 random(6);
  std::uint64_t served = 0;
  for (int round = 0; round < 15; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) fill_until_killed();
    system_clock().sleep(std::chrono::milliseconds(20 + random() % 60), {});
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the filling ended by itself: " << WEXITSTATUS(status);

    auto index = Index::open(index_file());
    if (index.is(Code::kNotFound)) continue;  // killed before it was published
    ASSERT_TRUE(index) << index.error().message;
    const auto store = open();
    ASSERT_TRUE(store);
    for (const auto& [path, bytes] : truth_) {
      const auto entry = (*index)->at(*(*index)->resolve(path));
      std::string into(bytes.size(), '?');
      if (store->read(block_at(path, entry.etag, entry.size, 0), 0,
                      std::as_writable_bytes(std::span(into)))) {
        ASSERT_TRUE(into == bytes) << path;
        ++served;
      }
    }
    EXPECT_EQ(store->stats().damaged, 0u) << "a kill is no power failure";
  }
  EXPECT_GT(served, 0u);
}

}  // namespace
}  // namespace paddle::samplefs
