// SPDX-License-Identifier: Apache-2.0
//
// The segment files of one tier. The last one is appended to; a full one is closed. What is dropped
// is punched out of its segment at once, and a closed segment without blocks is removed. Of a
// sealed segment nothing is freed before it is unsealed; the file system refuses it as well (EPERM,
// the immutable flag), also when this process does not know of the seal.
//
// Not thread-safe: guarded by the tier's mutex. A Segment's constant members may be used by any
// thread that holds a pointer to it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "samplefs/store/file_layer.h"
#include "samplefs/store/format.h"

namespace paddle::samplefs {

struct Segment {
  Segment(std::uint32_t name, std::unique_ptr<StoreFile> of) : number(name), file(std::move(of)) {}
  const std::uint32_t number;
  const std::unique_ptr<StoreFile> file;

  std::uint64_t end = 0;        // where the next extent begins
  std::uint64_t allocated = 0;  // on disk
  std::uint64_t live = 0;       // of it, extents of blocks; exact once the tier was counted
  std::uint64_t blocks = 0;
  int arriving = 0;  // extents that are being written
  int seals = 0;
  bool open = false;  // appended to
  bool held = false;  // the file system refused to free something
};
using SegmentPtr = std::shared_ptr<Segment>;

class Segments {
 public:
  Segments(StoreDirectory& directory, std::uint64_t segment_bytes)
      : directory_(directory), segment_bytes_(segment_bytes) {}

  int open();  // those that exist
  SegmentPtr find(std::uint32_t number) const;

  // Where an extent of that size may be written now. Returns 0 or an errno.
  struct Place {
    SegmentPtr segment{};
    std::uint64_t offset = 0;
  };
  int reserve(std::uint64_t size, Place& into);
  // It was written, or not: then its space is freed.
  void settle(const Place& place, std::uint64_t size, bool written);

  // Space of a block whose slot is gone.
  void free(std::uint32_t number, std::uint64_t offset, std::uint64_t size);
  // Frees whatever is between the extents of a closed segment. `extents` has all of them.
  struct Used {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  void free_gaps(Segment& segment, std::vector<Used> extents);
  // Segments from which free_gaps() would free much.
  std::vector<SegmentPtr> wasteful() const;

  void close_open();  // the next extent begins another segment
  void remove_empty();
  // Whether `live` and `blocks` of all segments are exact. Before, no segment is removed.
  void set_counted(bool counted) { counted_ = counted; }
  void reset_counts();

  std::uint64_t used() const { return used_; }
  std::uint64_t held() const;  // bytes of dropped blocks that could not be freed
  // Files that were made since the directory was synced.
  bool take_created() { return std::exchange(created_, false); }
  void set_created() { created_ = true; }  // the sync failed
  // Whether all() has changed since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  const std::map<std::uint32_t, SegmentPtr>& all() const { return all_; }

 private:
  void punch(Segment& segment, std::uint64_t offset, std::uint64_t size);
  bool may_remove(const Segment& segment) const;
  int add_segment();

  StoreDirectory& directory_;
  const std::uint64_t segment_bytes_;
  std::map<std::uint32_t, SegmentPtr> all_{};
  SegmentPtr open_{};
  std::uint32_t last_ = 0;
  std::uint64_t used_ = 0;
  bool created_ = false;
  bool changed_ = false;
  bool counted_ = false;
};

}  // namespace paddle::samplefs
