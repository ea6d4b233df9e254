// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/cache_coverage.h"

#include "samplefs/block.h"
#include "samplefs/filler.h"

namespace paddle::engine::samplefs {

using ::paddle::samplefs::Index;
using ::paddle::samplefs::kBlockSize;

namespace {

constexpr std::chrono::milliseconds kShort{5};

}  // namespace

CacheCoverage::Amount CacheCoverage::of(const std::shared_ptr<const Index>& index,
                                        const ::paddle::samplefs::Store& store,
                                        const Clock& clock) {
  const auto stats = store.stats();
  Lock lock(mutex_);
  const BootTime begin = clock.boot();
  const bool same = index_ == index && blocks_ == stats.blocks && stored_ == stats.bytes_stored;
  if (same || (index_ == index && begin < next_)) return amount_;
  Amount amount;
  std::uint64_t found = 0;
  for (Index::Position position = 0; position < index->size(); ++position) {
    const Index::Entry entry = index->at(position);
    if (entry.directory) continue;
    const std::string path = index->path_of(position);
    bool whole = true;
    for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
      if (found == stats.blocks) {  // all stored blocks were found
        whole = false;
        break;
      }
      const auto block = index->block(entry, path, at);
      if (store.holds(block)) {
        ++found;
        amount.bytes += static_cast<std::int64_t>(block.length);
      } else {
        whole = false;
      }
    }
    if (whole) ++amount.files;
  }
  index_ = index;
  blocks_ = stats.blocks;
  stored_ = stats.bytes_stored;
  const auto took = clock.boot() - begin;
  next_ = took > kShort ? begin + 20 * took : begin;  // at most a twentieth of one core
  amount_ = amount;
  return amount;
}

void CacheCoverage::invalidate() {
  Lock lock(mutex_);
  next_ = {};
}

}  // namespace paddle::engine::samplefs
