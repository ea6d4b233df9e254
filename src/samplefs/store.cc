// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "samplefs/block_format.h"
#include "samplefs/file_io.h"
#include "samplefs/store_files.h"

namespace paddle::samplefs {
namespace {

// After this time writes are tried again on a disk that was full.
constexpr std::chrono::seconds kDiskFullPause{30};

std::uint64_t space(std::uint64_t size) { return (size + 4095) / 4096 * 4096; }

// Errors of this process (no descriptors, no memory): the file may be intact.
bool is_shortage(int number) {
  return number == EMFILE || number == ENFILE || number == ENOMEM || number == EINTR;
}

}  // namespace

Store::Store(StoreOptions options, UniqueFd root, UniqueFd lock, const Clock& clock)
    : options_(std::move(options)), root_(std::move(root)), lock_(std::move(lock)), clock_(clock) {}

Result<std::unique_ptr<Store>> Store::open(StoreOptions options, const Clock& clock) {
  TRY(StoreFolders folders, open_store_folders(options.directory));
  std::unique_ptr<Store> store(
      new Store(std::move(options), std::move(folders.root), std::move(folders.lock), clock));
  CHECK_DONE(store->scan());
  return store;
}

// Takes over the blocks of an earlier process by name and size; they are verified when first
// served. Blocks beyond the limit are removed.
Result<> Store::scan() {
  return for_each_block(root_.get(), [this](const BlockKey& key, std::uint64_t size) {
    Lock lock(mutex_);
    if (size > kBlockSize + 4096 || used_ + space(size) > options_.limit) return false;
    slots_[key] = {
        .serial = ++serials_, .size = static_cast<std::uint32_t>(size), .state = State::kPresent};
    used_ += space(size);
    return true;
  });
}

bool Store::read(const Block& block, std::uint64_t offset, std::span<std::byte> into) {
  Slot slot;
  {
    Lock lock(mutex_);
    const auto found = slots_.find(block.key);
    if (found == slots_.end() || found->second.state != State::kPresent) return false;
    slot = found->second;
    found->second.in_page_cache = false;
  }
  const UniqueFd fd(::openat(root_.get(), block_file(block.key).c_str(),
                             O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOATIME));
  if (!fd && is_shortage(errno)) return false;
  if (!fd && errno != ENOENT && errno != ELOOP) {
    drop_unreadable(block, slot.serial, errno);
    return false;
  }
  const bool good = fd && slot.size == stored_size(block) &&
                    (slot.verified ? read_whole(fd.get(), offset, into)
                                   : read_verifying(fd.get(), block, offset, into));
  if (!good) {
    if (!drop(block.key, slot.serial)) return false;  // dropped meanwhile by another thread
    damaged_.fetch_add(1, std::memory_order_relaxed);
    log::warn("dropped a damaged block of the cache",
              {{"path", block.path}, {"offset", block.offset}});
    return false;
  }
  if (slot.in_page_cache) ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  bytes_served_.fetch_add(into.size(), std::memory_order_relaxed);
  return true;
}

// A whole cache may be affected: logs the 1st, the 2nd, the 4th, ...
void Store::drop_unreadable(const Block& block, std::uint32_t serial, int number) {
  if (!drop(block.key, serial)) return;
  unreadable_errno_.store(number, std::memory_order_relaxed);
  const std::uint64_t count = unreadable_.fetch_add(1, std::memory_order_relaxed) + 1;
  if ((count & (count - 1)) != 0) return;
  log::warn("dropped blocks of the cache that cannot be opened",
            {{"count", count}, {"last", block.path}, {"reason", std::strerror(number)}});
}

bool Store::read_verifying(int fd, const Block& block, std::uint64_t offset,
                           std::span<std::byte> into) {
  std::array<std::byte, 256 + sizeof(BlockTrailer)> tail_room;
  const auto tail = std::span(tail_room).first(stored_size(block) - block.length);
  if (offset == 0 && into.size() == block.length) {
    if (!read_whole(fd, 0, into, tail) || !block_is_whole(block, into, tail)) return false;
  } else {
    const auto whole = std::make_unique_for_overwrite<std::byte[]>(block.length);
    const std::span data(whole.get(), block.length);
    if (!read_whole(fd, 0, data, tail) || !block_is_whole(block, data, tail)) return false;
    std::memcpy(into.data(), data.data() + offset, into.size());
  }
  Lock lock(mutex_);
  const auto found = slots_.find(block.key);
  if (found != slots_.end()) found->second.verified = true;
  return true;
}

bool Store::holds(const Block& block) const {
  Lock lock(mutex_);
  const auto found = slots_.find(block.key);
  return found != slots_.end() && found->second.state == State::kPresent;
}

bool Store::has_room_locked(const Block& block) const {
  return used_ + space(stored_size(block)) <= options_.limit && clock_.boot() >= disk_full_until_;
}

bool Store::has_room(const Block& block) const {
  Lock lock(mutex_);
  return has_room_locked(block);
}

Store::Admission Store::admit(const Block& block) {
  Lock lock(mutex_);
  const auto found = slots_.find(block.key);
  if (found != slots_.end()) {
    return found->second.state == State::kPresent ? Admission::kThere : Admission::kRefused;
  }
  if (!has_room_locked(block)) {
    ++refused_;
    return Admission::kRefused;
  }
  const std::uint64_t size = stored_size(block);
  slots_[block.key] = {.serial = ++serials_, .size = static_cast<std::uint32_t>(size)};
  used_ += space(size);
  return Admission::kMayWrite;
}

bool Store::put(const Block& block, std::span<const std::byte> data, ReadBack read_back) {
  if (data.size() != block.length) return false;
  const Admission admission = admit(block);
  if (admission != Admission::kMayWrite) return admission == Admission::kThere;
  const auto written = write_file(block, data, read_back);
  {
    Lock lock(mutex_);
    const auto slot = slots_.find(block.key);  // this thread owns it while it is arriving
    if (written) {
      slot->second.state = State::kPresent;
      slot->second.verified = true;
      slot->second.in_page_cache = read_back == ReadBack::kExpected;
      bytes_stored_ += block.length;
      return true;
    }
    used_ -= space(slot->second.size);
    slots_.erase(slot);
    ++write_failures_;
    if (written.error().code == Code::kThrottled) disk_full_until_ = clock_.boot() + kDiskFullPause;
  }
  log::warn("cannot write to the cache", {{"error", written.error().message}});
  return false;
}

Result<> Store::write_file(const Block& block, std::span<const std::byte> data,
                           ReadBack read_back) {
  const std::string temporary = temporary_file(temporary_.fetch_add(1, std::memory_order_relaxed));
  const std::string tail = block_tail(block, data);
  const auto failed = [&](int number) {
    ::unlinkat(root_.get(), temporary.c_str(), 0);
    const bool full = number == ENOSPC || number == EDQUOT;
    return Error{full ? Code::kThrottled : Code::kUnavailable, std::strerror(number)};
  };
  const UniqueFd fd(::openat(root_.get(), temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return failed(errno);
  const bool keep = read_back == ReadBack::kExpected;
  // The tail first: the file then has its final size, and the data is written at once.
  int number = write_whole(fd.get(), block.length, std::as_bytes(std::span(tail)), keep);
  if (number == 0) number = write_whole(fd.get(), 0, data, keep);
  if (number != 0) return failed(number);
  if (options_.sync && ::fsync(fd.get()) != 0) return failed(errno);
  number = publish_block(root_.get(), temporary, block.key);
  if (number != 0) return failed(number);
  return Done{};
}

// The slot is erased last: while it exists, no other thread can create a file of that name.
bool Store::drop(const BlockKey& key, std::uint32_t serial) {
  {
    Lock lock(mutex_);
    const auto found = slots_.find(key);
    if (found == slots_.end() || found->second.state != State::kPresent) return false;
    if (serial != 0 && found->second.serial != serial) return false;
    found->second.state = State::kLeaving;
  }
  ::unlinkat(root_.get(), block_file(key).c_str(), 0);
  Lock lock(mutex_);
  const auto found = slots_.find(key);
  used_ -= space(found->second.size);
  slots_.erase(found);
  return true;
}

std::vector<BlockKey> Store::keys() const {
  std::vector<BlockKey> all;
  {
    Lock lock(mutex_);
    all.reserve(slots_.size());
    for (const auto& [key, slot] : slots_) all.push_back(key);
  }
  std::sort(all.begin(), all.end());
  return all;
}

void Store::drop_all(const std::vector<BlockKey>& keys) {
  for (const BlockKey& key : keys) drop(key, 0);
}

StoreStats Store::stats() const {
  Lock lock(mutex_);
  return {.limit = options_.limit,
          .used = used_,
          .blocks = slots_.size(),
          .bytes_served = bytes_served_.load(std::memory_order_relaxed),
          .bytes_stored = bytes_stored_,
          .refused = refused_,
          .damaged = damaged_.load(std::memory_order_relaxed),
          .unreadable = unreadable_.load(std::memory_order_relaxed),
          .unreadable_errno = unreadable_errno_.load(std::memory_order_relaxed),
          .write_failures = write_failures_};
}

}  // namespace paddle::samplefs
