// SPDX-License-Identifier: Apache-2.0
//
// Which samples a trainer reads, and in which order: the rules of Paddle's samplers. Pure.
//
//   sequence          the order of the list, dealt out one by one: SequenceSampler over N trainers
//   random            without a batch size the same as sequence over a shuffled list; with one it
//                     is DistributedBatchSampler(shuffle=True)
//   distributedBatch  DistributedBatchSampler: blocks of batch_size are dealt out to the ranks; the
//                     list is repeated from its beginning until all ranks have the same number;
//                     the remainder, less than a block for each rank, is split evenly
//
// The shuffle is numpy's, so that a trainer with the same seed (or epoch) reads in our order.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace paddle::sampler {

enum class Order { kSequence, kRandom, kDistributedBatch };

inline constexpr std::int32_t kMostRanks = 1 << 16;  // a larger number is cut to this

struct Strategy {
  Order order = Order::kSequence;
  std::int64_t batch_size = 0;          // 0: not given (distributedBatch: 1)
  std::int32_t ranks = 0;               // 0: the number of partitions
  std::optional<std::uint32_t> seed{};  // of the shuffle; absent: the epoch, as Paddle does
  std::int64_t epoch = 0;
  bool shuffle = false;  // always for random
  bool drop_last = false;
  bool operator==(const Strategy&) const = default;
};

// Positions, among `count` samples, of those that belong to `partition` of `partitions`, each once,
// in the order in which its trainers first read them. With more ranks than partitions, adjacent
// ranks read from one partition when the partitions have equally many ranks (they belong to one
// worker, which is placed at its partition); otherwise rank r reads from partition r mod
// partitions. Every sample that a rank reads is in a partition; samples that drop_last drops are in
// none.
std::vector<std::uint32_t> part_of(std::uint32_t count, std::int32_t partition,
                                   std::int32_t partitions, const Strategy& strategy);

}  // namespace paddle::sampler
