// SPDX-License-Identifier: Apache-2.0
//
// Which samples a trainer reads, and in which order: the rules of Paddle's samplers. Pure.
//
//   sequence          the order of the list, dealt out one by one: SequenceSampler over N trainers
//   random            without a batch size the same as sequence over a shuffled list; with one it
//                     is DistributedBatchSampler(shuffle=True)
//   distributedBatch  DistributedBatchSampler: blocks of batch_size dealt out to the ranks, the
//                     list filled up from its beginning until every rank has as many, the rest of
//                     less than a block for each rank split evenly
//
// A shuffle is numpy's, so that a trainer with the same seed (or epoch) reads in our order.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace paddle::sampler {

enum class Order { kSequence, kRandom, kDistributedBatch };

inline constexpr std::int32_t kMostRanks = 1 << 16;  // more are taken for as many

struct Strategy {
  Order order = Order::kSequence;
  std::int64_t batch_size = 0;          // 0: not given (distributedBatch: 1)
  std::int32_t ranks = 0;               // 0: as many as there are partitions
  std::optional<std::uint32_t> seed{};  // of the shuffle; absent: the epoch, as Paddle does
  std::int64_t epoch = 0;
  bool shuffle = false;  // random always does
  bool drop_last = false;
  bool operator==(const Strategy&) const = default;
};

// Positions of `count` samples that belong to `partition` of `partitions`, each once, in the order
// in which its trainers read them first. With more ranks than partitions, ranks next to each other
// read from one partition when each can have as many of them (they are those of one worker, which
// is placed at its partition); otherwise rank r reads from partition r mod partitions. Every sample
// that some rank reads is in some partition; what drop_last leaves out is in none.
std::vector<std::uint32_t> part_of(std::uint32_t count, std::int32_t partition,
                                   std::int32_t partitions, const Strategy& strategy);

}  // namespace paddle::sampler
