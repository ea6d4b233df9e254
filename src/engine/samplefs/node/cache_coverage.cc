// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/cache_coverage.h"

#include "samplefs/block.h"

namespace paddle::engine::samplefs {

using ::paddle::samplefs::Index;
using ::paddle::samplefs::kBlockSize;

CacheCoverage::Amount CacheCoverage::last() const {
  Lock lock(mutex_);
  return amount_;
}

bool CacheCoverage::is_complete(const std::shared_ptr<const Index>& index) const {
  Lock lock(mutex_);
  return index_ == index && amount_.files == static_cast<std::int64_t>(index->totals().files);
}

bool CacheCoverage::is_stale(const std::shared_ptr<const Index>& index,
                             const ::paddle::samplefs::Store& store) const {
  const auto stats = store.stats();
  Lock lock(mutex_);
  return index_ != index || blocks_ != stats.blocks || stored_ != stats.bytes_stored;
}

void CacheCoverage::measure(const std::shared_ptr<const Index>& index,
                            const ::paddle::samplefs::Store& store) {
  const auto stats = store.stats();
  std::uint64_t walk = 0;
  {
    Lock lock(mutex_);
    walk = ++walks_;
  }
  Amount amount;
  std::uint64_t found = 0;
  for (Index::Position position = 0; position < index->size(); ++position) {
    const Index::Entry entry = index->at(position);
    if (entry.directory || entry.id == 0) continue;  // 0: the index is damaged there
    const std::string path = index->path_of(position);
    bool whole = true;
    for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
      if (stats.counted && found >= stats.blocks) {  // all stored blocks were found
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
  Lock lock(mutex_);
  if (walk < latest_) return;  // a walk that began later has ended before
  latest_ = walk;
  index_ = index;
  blocks_ = stats.blocks;
  stored_ = stats.bytes_stored;
  amount_ = amount;
}

}  // namespace paddle::engine::samplefs
