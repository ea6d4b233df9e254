// SPDX-License-Identifier: Apache-2.0
// Our samplers compared with those of real PaddlePaddle, for many sizes that do not divide evenly.
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "sampler/strategy.h"
#include "test/support/components.h"
#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle {
namespace {

using sampler::Order;
using Part = std::vector<std::uint32_t>;

constexpr const char* kAskPaddle = R"(
import itertools
from paddle.io import DistributedBatchSampler, SequenceSampler

for count, batch, ranks, shuffle, drop, epoch in itertools.product(
        (1, 2, 3, 5, 7, 11, 16, 17, 31, 64, 101, 997), (1, 2, 3, 8, 33), (1, 2, 3, 4, 7),
        (0, 1), (0, 1), (0, 1, 12345)):
    if epoch and not shuffle:
        continue
    for rank in range(ranks):
        sampler = DistributedBatchSampler(range(count), batch, ranks, rank, bool(shuffle), bool(drop))
        sampler.set_epoch(epoch)
        samples = [each for batches in sampler for each in batches]
        print(count, batch, ranks, rank, shuffle, drop, epoch, *samples)
for count, ranks in itertools.product((1, 2, 7, 100, 101), (1, 2, 3)):
    for rank in range(ranks):
        print(count, 0, ranks, rank, 0, 0, 0, *list(SequenceSampler(range(count)))[rank::ranks])
)";

// Each once, at its first position.
Part each_once(const Part& samples) {
  Part part;
  std::set<std::uint32_t> seen;
  for (const auto sample : samples) {
    if (seen.insert(sample).second) part.push_back(sample);
  }
  return part;
}

TEST(Samplers, AreThoseOfPaddle) {
  const auto packages = test::component("paddlepaddle");
  ASSERT_TRUE(packages) << packages.error().message;
  const test::ScratchDir scratch;
  const test::Ran ran = test::run({.argv = {"/usr/bin/python3", "-c", kAskPaddle},
                                   .env = {"PATH=/usr/bin:/bin", "HOME=" + scratch.path(),
                                           "PYTHONPATH=" + *packages, "OMP_NUM_THREADS=1"}});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;

  std::istringstream lines(ran.out);
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line); ++compared) {
    std::istringstream words(line);
    std::uint32_t count = 0;
    std::int32_t ranks = 0;
    std::int32_t rank = 0;
    bool shuffle = false;
    sampler::Strategy strategy{.order = Order::kDistributedBatch};
    words >> count >> strategy.batch_size >> ranks >> rank >> shuffle >> strategy.drop_last >>
        strategy.epoch;
    ASSERT_TRUE(words) << line;
    Part theirs;
    for (std::uint32_t sample = 0; words >> sample;) theirs.push_back(sample);
    strategy.shuffle = shuffle;
    if (strategy.batch_size == 0) strategy.order = Order::kSequence;
    ASSERT_EQ(sampler::part_of(count, rank, ranks, strategy), each_once(theirs)) << line;
    if (!shuffle) continue;
    strategy.order = Order::kRandom;
    ASSERT_EQ(sampler::part_of(count, rank, ranks, strategy), each_once(theirs)) << line;
  }
  EXPECT_GT(compared, 8'000u);
}

}  // namespace
}  // namespace paddle
