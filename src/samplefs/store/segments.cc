// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/segments.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

namespace paddle::samplefs {
namespace {

// 0: not the name of a segment.
std::uint32_t segment_number(std::string_view name) {
  std::uint32_t number = 0;
  if (!name.starts_with("segment.")) return 0;
  name.remove_prefix(8);
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = failed == std::errc() && end == name.data() + name.size();
  return whole && !name.starts_with('0') ? number : 0;
}

std::uint64_t difference(std::uint64_t more, std::uint64_t less) {
  return more - std::min(more, less);
}

}  // namespace

int Segments::open() {
  std::vector<std::string> names;
  if (const int number = directory_.list(names)) return number;
  for (const std::string& name : names) {
    const std::uint32_t number = segment_number(name);
    if (number == 0) continue;
    last_ = std::max(last_, number);
    std::unique_ptr<StoreFile> file;
    bool writable = true;
    int failed = directory_.open(name, OpenMode::kReadWrite, Caching::kDirect, file);
    if (failed != 0) {
      writable = false;
      failed = directory_.open(name, OpenMode::kRead, Caching::kDirect, file);
    }
    FileSize size;
    if (failed != 0 || file->size(size) != 0) continue;  // its blocks are misses
    auto segment = std::make_shared<Segment>(number, std::move(file));
    segment->end = padded(size.bytes);
    segment->allocated = size.allocated;
    segment->open = writable && segment->end < segment_bytes_;
    used_ += segment->allocated;
    all_[number] = std::move(segment);
  }
  for (auto& [number, segment] : all_) {
    segment->open &= number == last_;
    if (segment->open) open_ = segment;
  }
  return 0;
}

SegmentPtr Segments::find(std::uint32_t number) const {
  const auto found = all_.find(number);
  return found == all_.end() ? nullptr : found->second;
}

int Segments::add_segment() {
  std::unique_ptr<StoreFile> file;
  const std::uint32_t number = last_ + 1;
  const int failed =
      directory_.open(segment_file(number), OpenMode::kCreate, Caching::kDirect, file);
  if (failed != 0) return failed;
  last_ = number;
  created_ = true;
  changed_ = true;
  open_ = std::make_shared<Segment>(number, std::move(file));
  open_->open = true;
  all_[number] = open_;
  return 0;
}

int Segments::reserve(std::uint64_t size, Place& into) {
  if (open_ && open_->end > 0 && open_->end + size > segment_bytes_) close_open();
  if (!open_) {
    if (const int number = add_segment()) return number;
  }
  into = {.segment = open_, .offset = open_->end};
  open_->end += size;
  open_->allocated += size;
  ++open_->arriving;
  used_ += size;
  return 0;
}

void Segments::settle(const Place& place, std::uint64_t size, bool written) {
  Segment& segment = *place.segment;
  --segment.arriving;
  if (!written) punch(segment, place.offset, size);
}

void Segments::punch(Segment& segment, std::uint64_t offset, std::uint64_t size) {
  if (segment.seals > 0 || segment.file->punch(offset, size) != 0) {
    segment.held = true;
    return;
  }
  const std::uint64_t freed = std::min(segment.allocated, size);
  segment.allocated -= freed;
  used_ -= freed;
}

void Segments::free(std::uint32_t number, std::uint64_t offset, std::uint64_t size) {
  if (const SegmentPtr segment = find(number)) punch(*segment, offset, size);
}

void Segments::free_gaps(Segment& segment, std::vector<Used> extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Used& a, const Used& b) { return a.offset < b.offset; });
  segment.held = false;
  std::uint64_t at = 0;
  std::uint64_t live = 0;
  const std::uint64_t before = segment.allocated;
  extents.push_back({.offset = segment.end, .size = 0});
  for (const Used& each : extents) {
    if (each.offset > at && segment.file->punch(at, each.offset - at) != 0) segment.held = true;
    at = std::max(at, each.offset + each.size);
    live += each.size;
  }
  if (segment.held) return;
  segment.allocated = std::min(before, live);
  used_ -= before - segment.allocated;
}

std::vector<SegmentPtr> Segments::wasteful() const {
  std::vector<SegmentPtr> found;
  for (const auto& [number, segment] : all_) {
    const bool idle = !segment->open && segment->seals == 0 && segment->arriving == 0;
    // Less is not worth reading the slot table for.
    const bool much = segment->allocated > segment->live + segment_bytes_ / 64;
    if (counted_ && idle && (much || segment->held)) found.push_back(segment);
  }
  return found;
}

void Segments::close_open() {
  if (open_) open_->open = false;
  open_.reset();
}

bool Segments::may_remove(const Segment& segment) const {
  return counted_ && !segment.open && segment.blocks == 0 && segment.arriving == 0 &&
         segment.seals == 0;
}

void Segments::remove_empty() {
  std::erase_if(all_, [&](const auto& each) {
    Segment& segment = *each.second;
    if (!may_remove(segment)) return false;
    if (const int number = directory_.remove(segment_file(segment.number));
        number != 0 && number != ENOENT) {
      segment.held = true;
      return false;
    }
    used_ -= segment.allocated;
    changed_ = true;
    return true;
  });
}

void Segments::reset_counts() {
  for (auto& [number, segment] : all_) segment->live = segment->blocks = 0;
  counted_ = false;
}

std::uint64_t Segments::held() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, segment] : all_) {
    if (segment->held || segment->seals > 0) bytes += difference(segment->allocated, segment->live);
  }
  return bytes;
}

}  // namespace paddle::samplefs
