// SPDX-License-Identifier: Apache-2.0
#include "sampler/strategy.h"

#include <algorithm>

#include "sampler/shuffle.h"

namespace paddle::sampler {
namespace {

bool is_distributed(const Strategy& strategy) {
  return strategy.order == Order::kDistributedBatch ||
         (strategy.order == Order::kRandom && strategy.batch_size > 0);
}

bool is_shuffled(const Strategy& strategy) {
  return strategy.order == Order::kRandom ||
         (strategy.order == Order::kDistributedBatch && strategy.shuffle);
}

// The list that all ranks read from: `size` places, filled with the samples repeatedly.
std::vector<std::uint32_t> list_of(std::uint64_t size, std::uint32_t count,
                                   const Strategy& strategy) {
  std::vector<std::uint32_t> list(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::uint32_t>(i % count);
  if (is_shuffled(strategy)) {
    numpy_shuffle(list, strategy.seed.value_or(static_cast<std::uint32_t>(strategy.epoch)));
  }
  return list;
}

// Paddle numbers the ranks of one worker in a row, and worker i is placed at partition i.
std::uint64_t partition_of(std::uint64_t rank, std::uint64_t ranks, std::uint64_t partitions) {
  return ranks % partitions == 0 ? rank / (ranks / partitions) : rank % partitions;
}

// Where in the list each rank finds its samples.
struct Blocks {
  std::uint64_t ranks = 1;
  std::uint64_t batch = 1;
  std::uint64_t each = 0;   // samples of one rank
  std::uint64_t whole = 0;  // of these, in whole blocks; the others are its share of the rest

  std::uint64_t place(std::uint64_t rank, std::uint64_t nth) const {
    if (nth < whole) return (nth / batch * ranks + rank) * batch + nth % batch;
    return whole * ranks + rank * (each - whole) + (nth - whole);
  }
};

std::vector<std::uint32_t> dealt_in_batches(std::uint32_t count, std::uint64_t partition,
                                            std::uint64_t partitions, std::uint64_t ranks,
                                            const Strategy& strategy) {
  Blocks blocks{.ranks = ranks, .each = (count + ranks - 1) / ranks};
  // A batch that no rank can fill is as good as any larger one.
  blocks.batch = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(strategy.batch_size, 1, static_cast<std::int64_t>(blocks.each) + 1));
  blocks.whole = blocks.each - blocks.each % blocks.batch;
  const std::uint64_t read = strategy.drop_last ? blocks.whole : blocks.each;

  const auto list = list_of(blocks.each * ranks, count, strategy);
  std::vector<bool> taken(count);
  std::vector<std::uint32_t> part;
  for (std::uint64_t from = 0; from < read; from += blocks.batch) {
    const std::uint64_t to = std::min(from + blocks.batch, read);
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      if (partition_of(rank, ranks, partitions) != partition) continue;
      for (std::uint64_t nth = from; nth < to; ++nth) {
        const std::uint32_t sample = list[blocks.place(rank, nth)];
        if (!taken[sample]) part.push_back(sample);
        taken[sample] = true;
      }
    }
  }
  return part;
}

}  // namespace

std::vector<std::uint32_t> part_of(std::uint32_t count, std::int32_t partition,
                                   std::int32_t partitions, const Strategy& strategy) {
  const std::int32_t parts = std::max(partitions, 1);
  if (count == 0 || partition < 0 || partition >= parts) return {};
  const auto ranks = static_cast<std::uint64_t>(
      std::clamp(strategy.ranks > 0 ? strategy.ranks : parts, 1, kMostRanks));
  const auto own = static_cast<std::uint64_t>(partition);
  const auto step = static_cast<std::uint64_t>(parts);
  if (is_distributed(strategy)) return dealt_in_batches(count, own, step, ranks, strategy);

  const auto list = list_of(count, count, strategy);
  std::vector<std::uint32_t> part;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (partition_of(i % ranks, ranks, step) == own) part.push_back(list[i]);
  }
  return part;
}

}  // namespace paddle::sampler
