// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/extent_io.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "samplefs/store/aligned_bytes.h"

namespace paddle::samplefs {
namespace {

struct alignas(kExtentAlignment) Page {
  std::byte bytes[kExtentAlignment];
};

ReadOutcome outcome_of(int number) {
  if (number == 0) return {};
  if (number == ENODATA) return {ExtentState::kDamaged, number};
  const bool shortage = number == ENOMEM || number == EAGAIN || number == EMFILE;
  return {shortage ? ExtentState::kBusy : ExtentState::kUnreadable, number};
}

ReadOutcome checksums_of(StoreFile& file, const Slot& slot, ChecksumLists& lists,
                         ChunkChecksums& into) {
  if (slot.length <= kChunkBytes) {
    into.count = 1;
    into.of[0] = slot.checksum;
    return {};
  }
  if (lists.find(slot.checksum, into)) return {};
  Page page;
  const int number = file.read(slot.offset() + padded(slot.length), page.bytes);
  if (number != 0) return outcome_of(number);
  const auto list = decode_checksums(page.bytes, slot);
  if (!list) return {ExtentState::kDamaged, 0};
  into = *list;
  lists.add(slot.checksum, into);
  return {};
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool chunks_match(std::span<const std::byte> data, std::size_t first,
                  const ChunkChecksums& chunks) {
  for (std::size_t i = first; !data.empty(); ++i) {
    const std::size_t size = std::min<std::size_t>(kChunkBytes, data.size());
    if (i >= chunks.count || chunk_checksum(data.first(size)) != chunks.of[i]) return false;
    data = data.subspan(size);
  }
  return true;
}

}  // namespace

bool ChecksumLists::find(std::uint64_t checksum, ChunkChecksums& into) const {
  Lock lock(mutex_);
  const auto found = lists_.find(checksum);
  if (found == lists_.end()) return false;
  into = found->second;
  return true;
}

void ChecksumLists::add(std::uint64_t checksum, const ChunkChecksums& chunks) {
  Lock lock(mutex_);
  if (lists_.size() >= kMost) lists_.clear();
  lists_[checksum] = chunks;
}

ReadOutcome read_extent(StoreFile& file, const Slot& slot, std::uint64_t offset,
                        std::span<std::byte> into, ChecksumLists& lists) {
  ChunkChecksums chunks;
  const ReadOutcome listed = checksums_of(file, slot, lists, chunks);
  if (listed.state != ExtentState::kRight) return listed;

  const std::uint64_t begin = offset / kChunkBytes * kChunkBytes;
  const std::uint64_t wanted_end = offset + into.size();
  const std::uint64_t end = std::min<std::uint64_t>(
      slot.length, (wanted_end + kChunkBytes - 1) / kChunkBytes * kChunkBytes);
  const std::size_t size = end - begin;
  const bool in_place = begin == offset && end == wanted_end && is_aligned(into.data());
  AlignedBytes room;
  if (!in_place) room = aligned_bytes(size);
  const std::span<std::byte> data = in_place ? into : std::span(room.get(), size);

  // The last page is read beside: the caller's memory ends where the data does.
  const std::size_t whole = size / kExtentAlignment * kExtentAlignment;
  Page tail;
  const std::span<std::byte> last = size > whole ? std::span(tail.bytes) : std::span<std::byte>();
  const int number = file.read(slot.offset() + begin, data.first(whole), last);
  if (number != 0) return outcome_of(number);
  if (!last.empty()) {
    std::memcpy(data.data() + whole, tail.bytes, size - whole);
    if (!all_zero(last.subspan(size - whole))) return {ExtentState::kDamaged, 0};
  }
  if (!chunks_match(data, begin / kChunkBytes, chunks)) return {ExtentState::kDamaged, 0};
  if (!in_place) std::memcpy(into.data(), data.data() + (offset - begin), into.size());
  return {};
}

int write_extent(StoreFile& file, std::uint64_t at, std::span<const std::byte> data,
                 const ChunkChecksums& chunks) {
  const std::size_t whole = data.size() / kExtentAlignment * kExtentAlignment;
  alignas(kExtentAlignment) std::byte tail[2 * kExtentAlignment] = {};
  std::size_t tail_size = 0;
  if (data.size() > whole) {
    std::memcpy(tail, data.data() + whole, data.size() - whole);
    tail_size = kExtentAlignment;
  }
  if (chunks.count > 1) {
    encode_checksums(chunks,
                     std::span<std::byte, kExtentAlignment>(tail + tail_size, kExtentAlignment));
    tail_size += kExtentAlignment;
  }
  std::span<const std::byte> body = data.first(whole);
  AlignedBytes copy;
  if (!is_aligned(body.data()) && whole > 0) {
    copy = aligned_bytes(whole);
    std::memcpy(copy.get(), body.data(), whole);
    body = {copy.get(), whole};
  }
  return file.write(at, body, std::span(tail).first(tail_size));
}

}  // namespace paddle::samplefs
