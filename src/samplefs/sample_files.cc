// SPDX-License-Identifier: Apache-2.0
#include "samplefs/sample_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"

namespace paddle::samplefs {
namespace {

constexpr int kAheadThreads = 4;
constexpr std::size_t kAheadQueue = 16;      // a longer queue would read too early
constexpr std::uint64_t kMostAsked = 16384;  // blocks of one file, 64 GiB

}  // namespace

SampleFiles::SampleFiles(std::shared_ptr<const Index> index, ReadThrough& data,
                         std::string own_source)
    : data_(data), own_source_(std::move(own_source)) {
  generations_ = std::make_shared<const Generations>(Generations{std::move(index)});
  for (int i = 0; i < kAheadThreads; ++i) {
    threads_.emplace_back([this] { read_ahead(stop_.get_token()); });
  }
}

SampleFiles::~SampleFiles() {
  stop_.request_stop();
  threads_.clear();  // joins
}

void SampleFiles::switch_to(std::shared_ptr<const Index> index) {
  const std::string digest = index->digest();
  Lock lock(mutex_);
  Generations next = *generations_;
  if (digest == next.back()->digest()) next.pop_back();
  next.push_back(std::move(index));
  if (next.size() > kGenerations) next.erase(next.begin());
  generations_ = std::make_shared<const Generations>(std::move(next));
}

std::shared_ptr<const SampleFiles::Generations> SampleFiles::known() const {
  Lock lock(mutex_);
  return generations_;
}

std::shared_ptr<const Index> SampleFiles::current() const { return known()->back(); }

std::vector<std::shared_ptr<const Index>> SampleFiles::generations() const { return *known(); }

Error SampleFiles::missing(const Index& index, const char* what) {
  if (!index.damaged()) return {Code::kNotFound, what};
  return {Code::kInternal, "the index of the set is damaged; sync it again"};
}

Result<SampleFiles::Place> SampleFiles::find(NodeId node) const {
  const auto all = known();
  for (auto index = all->rbegin(); index != all->rend(); ++index) {
    if (const auto position = (*index)->find(node)) return Place{*index, *position};
  }
  return missing(*all->back(), "no such node");
}

Result<Attr> SampleFiles::lookup(NodeId parent, std::string_view name) {
  TRY(const Place place, find(parent));
  const auto position = place.index->child(place.position, name);
  if (!position) return missing(*place.index, "no such file");
  const Attr found = place.index->at(*position).attr();
  if (found.id == 0) return missing(*place.index, "no such file");
  return found;
}

Result<Attr> SampleFiles::stat(NodeId node) {
  TRY(const Place place, find(node));
  const Attr found = place.index->at(place.position).attr();
  if (found.id == 0) return missing(*place.index, "no such node");
  return found;
}

std::shared_ptr<const Index> SampleFiles::listed_in(std::uint64_t generation) const {
  const auto all = known();
  for (auto index = all->rbegin(); index != all->rend(); ++index) {
    if (((*index)->generation() & kCookieGenerations) == generation) return *index;
  }
  return nullptr;
}

// A cookie is the place behind an entry, in the listing of one generation: the generation in the
// high bits, the number of entries before it in the low ones. So a listing that was begun is the
// listing of one generation, whatever is published meanwhile. When that generation is gone (32
// later, or after a restart), the number counts in the current one.
Result<> SampleFiles::read_directory(NodeId node, std::uint64_t start, const EntrySink& sink) {
  TRY(Place place, find(node));
  const std::uint64_t position = start & kCookiePositions;
  if (start > 0) {
    const auto begun = listed_in(start >> kCookieShift);
    const auto known = begun ? begun->find(node) : std::nullopt;
    if (known) place = {begun, *known};
  }
  const auto listed = place.index->at(place.position);
  if (!listed.directory) {
    if (listed.id == 0) return missing(*place.index, "no such node");
    return Error{Code::kInvalid, "not a directory"};
  }
  const std::uint64_t generation = (place.index->generation() & kCookieGenerations) << kCookieShift;
  const auto [first, count] = place.index->children(place.position);
  for (std::uint64_t i = position; i < count; ++i) {
    const auto entry = place.index->at(first + static_cast<Index::Position>(i));
    if (entry.id == 0) return missing(*place.index, "no such node");
    if (!sink(entry.name, entry.attr(), generation | (i + 1))) break;
  }
  return Done{};
}

Result<SampleFiles::Range> SampleFiles::range_of(NodeId node, std::uint64_t offset,
                                                 std::size_t wanted) const {
  Range range{.offset = offset};
  TRY(range.place, find(node));
  range.entry = range.place.index->at(range.place.position);
  if (range.entry.directory) return Error{Code::kInvalid, "a directory cannot be read"};
  range.path = range.place.index->path_of(range.place.position);
  if (range.entry.id == 0 || range.path.empty()) return missing(*range.place.index, "no such node");
  if (offset < range.entry.size) {
    range.size =
        static_cast<std::size_t>(std::min<std::uint64_t>(wanted, range.entry.size - offset));
  }
  return range;
}

template <typename ReadPart>
Result<bool> SampleFiles::for_each_part(const Range& range, std::span<std::byte> into,
                                        const ReadPart& read_part) {
  const Index& index = *range.place.index;
  for (std::size_t done = 0; done < range.size;) {
    const Block block = index.block(range.entry, range.path, range.offset + done);
    const std::uint64_t within = range.offset + done - block.offset;
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(range.size - done, block.length - within));
    TRY(const bool goes_on, read_part(block, within, into.subspan(done, part)));
    if (!goes_on) return false;
    done += part;
  }
  return true;
}

Result<std::size_t> SampleFiles::read(NodeId node, std::uint64_t offset, std::span<std::byte> into,
                                      BootTime until) {
  TRY(const Range range, range_of(node, offset, into.size()));
  if (range.size == 0) return range.size;
  plan_ahead(range);
  const source::CallContext context(stop_.get_token(), until);
  const auto wait_for = [&](const Block& block, std::uint64_t at,
                            std::span<std::byte> part) -> Result<bool> {
    CHECK_DONE(data_.read(block, at, part, context));
    return true;
  };
  CHECK_DONE(for_each_part(range, into, wait_for));
  return range.size;
}

Result<std::optional<std::size_t>> SampleFiles::read_local(NodeId node, std::uint64_t offset,
                                                           std::span<std::byte> into) {
  TRY(const Range range, range_of(node, offset, into.size()));
  if (range.size == 0) return std::optional<std::size_t>(0);
  const auto take = [&](const Block& block, std::uint64_t at, std::span<std::byte> part) {
    return data_.read_local(block, at, part);
  };
  TRY(const bool whole, for_each_part(range, into, take));
  if (!whole) return std::optional<std::size_t>();
  plan_ahead(range);  // if it is incomplete, read() does that
  return std::optional<std::size_t>(range.size);
}

std::string SampleFiles::tiers_of(const Place& place, const Index::Entry& entry,
                                  const std::string& path) const {
  std::set<std::uint32_t> tiers;
  bool elsewhere = false;
  const std::uint64_t end = std::min(entry.size, kMostAsked * kBlockSize);
  for (std::uint64_t at = 0; at < end; at += kBlockSize) {
    const auto tier = data_.tier_of(place.index->block(entry, path, at));
    if (tier) tiers.insert(*tier + 1);
    elsewhere |= !tier;
  }
  std::string text;
  for (const std::uint32_t tier : tiers) text += (text.empty() ? "" : ",") + std::to_string(tier);
  if (elsewhere) text += text.empty() ? "source" : ",source";
  return text;
}

Result<std::vector<Xattr>> SampleFiles::xattrs(NodeId node) {
  TRY(const Place place, find(node));
  const auto entry = place.index->at(place.position);
  if (entry.id == 0) return missing(*place.index, "no such node");
  std::vector<Xattr> all{{"user.samplefs.generation", std::to_string(place.index->generation())}};
  if (entry.directory) return all;
  const std::string path = place.index->path_of(place.position);
  if (path.empty()) return missing(*place.index, "no such node");
  const std::string& source = place.index->origin(entry.origin).uri;
  all.push_back({"user.samplefs.etag", std::string(entry.etag)});
  all.push_back({"user.samplefs.source", source.empty() ? own_source_ : source});
  all.push_back({"user.samplefs.tier", tiers_of(place, entry, path)});
  return all;
}

FsTotals SampleFiles::totals() const { return current()->totals(); }

void SampleFiles::plan_ahead(const Range& range) {
  const Place& place = range.place;
  const Index::Entry& entry = range.entry;
  if (entry.size <= kBlockSize) return;
  const std::uint64_t last = (range.offset + range.size - 1) / kBlockSize;
  Lock lock(ahead_mutex_);
  const std::uint64_t count = ahead_.observe(entry.id, range.offset, range.size);
  for (std::uint64_t block = last + 1; block <= last + count; ++block) {
    const std::uint64_t at = block * kBlockSize;
    if (at >= entry.size || ahead_queue_.size() >= kAheadQueue) break;
    const bool planned = std::any_of(ahead_queue_.begin(), ahead_queue_.end(), [&](const Ahead& a) {
      return a.offset == at && a.place.position == place.position && a.place.index == place.index;
    });
    if (planned) continue;
    ahead_queue_.push_back({.place = place, .offset = at});
    ahead_wake_.notify_one();
  }
}

void SampleFiles::read_ahead(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Ahead next;
    {
      Lock lock(ahead_mutex_);
      while (ahead_queue_.empty() && !stop.stop_requested()) ahead_wake_.wait(ahead_mutex_, stop);
      if (stop.stop_requested()) return;
      next = std::move(ahead_queue_.front());
      ahead_queue_.pop_front();
    }
    const auto entry = next.place.index->at(next.place.position);
    const std::string path = next.place.index->path_of(next.place.position);
    const auto done = data_.fetch_ahead(next.place.index->block(entry, path, next.offset), stop);
    // The reader's own read returns the error.
    if (!done) log::debug("reading ahead failed", {{"error", done.error().message}});
  }
}

}  // namespace paddle::samplefs
