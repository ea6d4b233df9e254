// SPDX-License-Identifier: Apache-2.0
//
// The slot table of a tier (drawing in format.h): which block lies where. It is read and written by
// pread and pwrite, never mapped: an error of the disk is an errno and not a signal, a reader in
// another process needs no trust, and each write is a call that a test can lose.
//
// find() may be called by any thread at any time. All other functions by one thread at a time; a
// find() beside them sees a slot before or after a change, or takes a half-written one for damaged.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "samplefs/store/file_layer.h"
#include "samplefs/store/format.h"

namespace paddle::samplefs {

class SlotTable {
 public:
  // 0, or an errno; EILSEQ: not a slot table of this version. A table of an earlier start of the
  // machine begins its next epoch, which is synced first; with kRead it only is without kUnsynced
  // slots.
  static int open(StoreDirectory& directory, const std::string& name, OpenMode mode,
                  std::uint64_t boot, std::unique_ptr<SlotTable>& into);
  // kCreate of an empty table. It is not synced.
  static int create(StoreDirectory& directory, const std::string& name, std::uint64_t slots,
                    std::uint32_t epoch, std::uint64_t boot, std::unique_ptr<SlotTable>& into);

  struct Found {
    std::optional<Slot> slot{};
    std::uint64_t index = 0;
    bool damaged = false;  // some slot on the way was
    int number = 0;        // errno: the table cannot be read
  };
  Found find(const BlockKey& key) const;

  // Stores a slot (without epoch and check). ENOSPC without an index: no place, the table has to
  // be rebuilt; any other errno is of the disk. REQUIRES: the key has no slot.
  int insert(Slot slot, std::optional<std::uint64_t>& index);
  // Replaces the slot at `index`, of the same key.
  int replace(std::uint64_t index, Slot slot);
  int remove(std::uint64_t index);
  // Inserts all present slots of another table into this one, which is empty. ENOSPC with
  // `crowded`: some bucket was too full.
  int copy_from(const SlotTable& other, bool& crowded);

  // Calls `visit` for each present slot among the `count` from `first` on. Returns 0 or an errno.
  using Visit = std::function<void(std::uint64_t index, const Slot& slot)>;
  int for_each(std::uint64_t first, std::uint64_t count, const Visit& visit) const;

  std::uint64_t slots() const { return header_.slots; }
  std::uint64_t bytes() const { return table_size(header_.slots); }
  std::uint32_t epoch() const { return header_.epoch; }
  int sync() { return file_->sync(); }
  // Whether the file still has its name: another table may have replaced it.
  bool linked() const;

 private:
  SlotTable(std::unique_ptr<StoreFile> file, const TableHeader& header)
      : file_(std::move(file)), header_(header) {}
  struct Bucket;
  class Window;
  int read_bucket(std::uint64_t number, Bucket& into) const;
  std::uint64_t bucket_after(const BlockKey& key, std::uint64_t probe) const {
    return (home_bucket(key, header_.slots) + probe) & (header_.slots / kBucketSlots - 1);
  }
  int write_slot(std::uint64_t index, const Slot& slot);

  const std::unique_ptr<StoreFile> file_;
  const TableHeader header_;
};

}  // namespace paddle::samplefs
