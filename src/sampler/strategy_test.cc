// SPDX-License-Identifier: Apache-2.0
#include "sampler/strategy.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "sampler/shuffle.h"

namespace paddle::sampler {
namespace {

using Part = std::vector<std::uint32_t>;

Part shuffled(std::uint32_t count, std::uint32_t seed) {
  Part list(count);
  std::iota(list.begin(), list.end(), 0u);
  numpy_shuffle(list, seed);
  return list;
}

// What numpy gives for RandomState(seed).shuffle(list(range(count))).
TEST(NumpyShuffle, MatchesNumpy) {
  EXPECT_EQ(shuffled(2, 0), (Part{1, 0}));
  EXPECT_EQ(shuffled(5, 0), (Part{2, 0, 1, 3, 4}));
  EXPECT_EQ(shuffled(8, 0), (Part{6, 2, 1, 7, 3, 0, 5, 4}));
  EXPECT_EQ(shuffled(8, 7), (Part{2, 5, 0, 6, 3, 1, 4, 7}));
  EXPECT_EQ(shuffled(17, 3), (Part{16, 6, 4, 7, 14, 1, 11, 2, 13, 5, 0, 12, 15, 3, 9, 8, 10}));
  EXPECT_EQ(shuffled(33, 4294967295u),
            (Part{24, 15, 19, 3,  21, 2,  28, 30, 1,  6,  8,  31, 27, 4,  32, 16, 17,
                  9,  5,  14, 13, 10, 23, 11, 18, 29, 25, 26, 22, 0,  20, 7,  12}));
}

TEST(NumpyShuffle, LeavesEmptyListsAndSingleValuesUnchanged) {
  EXPECT_EQ(shuffled(0, 9), Part{});
  EXPECT_EQ(shuffled(1, 9), Part{0});
}

TEST(Strategy, SequenceDealsTheListOutOneByOne) {
  EXPECT_EQ(part_of(7, 0, 3, {}), (Part{0, 3, 6}));
  EXPECT_EQ(part_of(7, 2, 3, {}), (Part{2, 5}));
  EXPECT_EQ(part_of(3, 0, 1, {}), (Part{0, 1, 2}));
}

TEST(Strategy, SequenceFollowsTheRanksWhenThereAreMoreOfThem) {
  EXPECT_EQ(part_of(8, 0, 2, {.ranks = 3}), (Part{0, 2, 3, 5, 6}));  // ranks 0 and 2
  EXPECT_EQ(part_of(8, 1, 2, {.ranks = 3}), (Part{1, 4, 7}));
}

TEST(Strategy, RandomWithoutABatchIsSequenceOverAShuffledList) {
  const Strategy random{.order = Order::kRandom, .seed = 7};
  EXPECT_EQ(part_of(8, 0, 2, random), (Part{2, 0, 3, 4}));
  EXPECT_EQ(part_of(8, 1, 2, random), (Part{5, 6, 1, 7}));
}

TEST(Strategy, AbsentSeedIsTheEpoch) {
  EXPECT_EQ(part_of(8, 0, 1, {.order = Order::kRandom, .epoch = 7}), shuffled(8, 7));
  EXPECT_EQ(part_of(8, 0, 1, {.order = Order::kRandom, .seed = 0, .epoch = 7}), shuffled(8, 0));
}

// DistributedBatchSampler(range(11), batch_size=2, num_replicas=3)
TEST(Strategy, DistributedBatchDealsBlocksAndFillsTheListUp) {
  const Strategy plain{.order = Order::kDistributedBatch, .batch_size = 2};
  EXPECT_EQ(part_of(11, 0, 3, plain), (Part{0, 1, 6, 7}));
  EXPECT_EQ(part_of(11, 1, 3, plain), (Part{2, 3, 8, 9}));
  EXPECT_EQ(part_of(11, 2, 3, plain), (Part{4, 5, 10, 0}));
}

// The same with shuffle=True at epoch 5.
TEST(Strategy, DistributedBatchShufflesTheFilledUpList) {
  const Strategy mixed{
      .order = Order::kDistributedBatch, .batch_size = 2, .epoch = 5, .shuffle = true};
  EXPECT_EQ(part_of(11, 0, 3, mixed), (Part{7, 5, 8, 1}));
  EXPECT_EQ(part_of(11, 1, 3, mixed), (Part{2, 9, 0, 10}));
  EXPECT_EQ(part_of(11, 2, 3, mixed), (Part{0, 4, 6, 3}));
  const Strategy random{.order = Order::kRandom, .batch_size = 2, .epoch = 5};
  EXPECT_EQ(part_of(11, 1, 3, random), part_of(11, 1, 3, mixed));
}

// range(7), batch_size=3, num_replicas=2, shuffle=True, epoch 1
TEST(Strategy, DropLastLeavesTheIncompleteBatchOut) {
  const Strategy dropping{.order = Order::kDistributedBatch,
                          .batch_size = 3,
                          .epoch = 1,
                          .shuffle = true,
                          .drop_last = true};
  EXPECT_EQ(part_of(7, 0, 2, dropping), (Part{0, 2, 1}));
  EXPECT_EQ(part_of(7, 1, 2, dropping), (Part{6, 0, 4}));
}

TEST(Strategy, MoreRanksThanSamplesReadTheFirstOnesAgain) {
  const Strategy wide{.order = Order::kDistributedBatch, .batch_size = 4};
  EXPECT_EQ(part_of(3, 3, 4, wide), Part{0});
  EXPECT_EQ(part_of(2, 1, 2, {.order = Order::kDistributedBatch, .ranks = 7}), Part{1});
}

TEST(Strategy, RanksOfAPartitionTakeTurnsByBatch) {
  const Strategy four{.order = Order::kDistributedBatch, .batch_size = 2, .ranks = 4};
  EXPECT_EQ(part_of(16, 0, 2, four), (Part{0, 1, 2, 3, 8, 9, 10, 11}));  // ranks 0 and 1
  EXPECT_EQ(part_of(16, 1, 2, four), (Part{4, 5, 6, 7, 12, 13, 14, 15}));
  const Strategy three{.order = Order::kDistributedBatch, .batch_size = 2, .ranks = 3};
  EXPECT_EQ(part_of(12, 0, 2, three), (Part{0, 1, 4, 5, 6, 7, 10, 11}));  // ranks 0 and 2
}

// Two workers of two cards: ranks 0 and 1 are the first worker's, which is at partition 0.
TEST(Strategy, APartitionHoldsWhatTheRanksOfItsWorkerRead) {
  for (const Order order : {Order::kSequence, Order::kRandom, Order::kDistributedBatch}) {
    const Strategy four{.order = order, .batch_size = 3, .ranks = 4, .epoch = 2};
    for (const std::int32_t worker : {0, 1}) {
      std::set<std::uint32_t> read;
      for (const std::int32_t rank : {2 * worker, 2 * worker + 1}) {
        const Part part = part_of(101, rank, 4, four);
        read.insert(part.begin(), part.end());
      }
      const Part held = part_of(101, worker, 2, four);
      EXPECT_EQ(std::set(held.begin(), held.end()), read);
    }
  }
}

TEST(Strategy, PartitionsWithoutARankHoldNothing) {
  EXPECT_EQ(part_of(9, 2, 3, {.order = Order::kDistributedBatch, .ranks = 2}), Part{});
  EXPECT_EQ(part_of(9, 2, 3, {.ranks = 2}), Part{});
}

TEST(Strategy, InvalidRequestsGiveNoSamples) {
  EXPECT_EQ(part_of(0, 0, 2, {.order = Order::kDistributedBatch}), Part{});
  EXPECT_EQ(part_of(5, 2, 2, {}), Part{});
  EXPECT_EQ(part_of(5, -1, 2, {}), Part{});
  const Strategy absurd{
      .order = Order::kDistributedBatch, .batch_size = INT64_MAX, .ranks = INT32_MAX};
  EXPECT_EQ(part_of(5, 0, 1, absurd), (Part{0, 1, 2, 3, 4}));
}

TEST(Strategy, EverySampleIsInSomePartitionWhateverTheOrder) {
  for (const Order order : {Order::kSequence, Order::kRandom, Order::kDistributedBatch}) {
    for (std::uint32_t count = 1; count < 40; ++count) {
      for (std::int32_t partitions = 1; partitions < 6; ++partitions) {
        for (std::int64_t batch = 0; batch < 5; ++batch) {
          std::set<std::uint32_t> seen;
          for (std::int32_t i = 0; i < partitions; ++i) {
            const Part part =
                part_of(count, i, partitions,
                        {.order = order, .batch_size = batch, .ranks = 7, .shuffle = batch > 2});
            EXPECT_EQ(std::set(part.begin(), part.end()).size(), part.size());
            seen.insert(part.begin(), part.end());
          }
          EXPECT_EQ(seen.size(), count) << partitions << " partitions, batch " << batch;
        }
      }
    }
  }
}

}  // namespace
}  // namespace paddle::sampler
