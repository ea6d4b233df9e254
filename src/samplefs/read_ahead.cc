// SPDX-License-Identifier: Apache-2.0
#include "samplefs/read_ahead.h"

#include <algorithm>

namespace paddle::samplefs {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kSlack = 2 * kMiB;  // of requests out of order

}  // namespace

std::uint64_t ReadAhead::observe(NodeId node, std::uint64_t offset, std::uint64_t size) {
  const auto known =
      std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.node == node; });
  Run& run = known != runs_.end()
                 ? *known
                 : *std::min_element(runs_.begin(), runs_.end(),
                                     [](const Run& a, const Run& b) { return a.used < b.used; });
  const bool goes_on =
      known != runs_.end() && offset + kSlack >= run.next && offset <= run.next + kSlack;
  if (!goes_on) run = {.node = node, .next = offset, .bytes = 0, .used = 0};
  run.next = std::max(run.next, offset + size);
  run.bytes += size;
  run.used = ++now_;
  if (run.bytes < kMiB) return 0;
  if (run.bytes < 2 * kBlockSize) return 1;
  return run.bytes < 8 * kBlockSize ? 2 : 4;
}

}  // namespace paddle::samplefs
