// SPDX-License-Identifier: Apache-2.0
#include "samplefs/sample_files.h"

#include <algorithm>

#include "base/log.h"

namespace paddle::samplefs {
namespace {

constexpr int kAheadThreads = 4;
constexpr std::size_t kAheadQueue = 16;  // more than that is not read ahead but read too early

}  // namespace

SampleFiles::SampleFiles(std::shared_ptr<const Index> index, ReadThrough& data) : data_(data) {
  generations_.push_back(std::move(index));
  for (int i = 0; i < kAheadThreads; ++i) {
    threads_.emplace_back([this] { read_ahead(stop_.get_token()); });
  }
}

SampleFiles::~SampleFiles() {
  stop_.request_stop();
  threads_.clear();  // joins
}

void SampleFiles::switch_to(std::shared_ptr<const Index> index) {
  Lock lock(mutex_);
  if (index->digest() == generations_.back()->digest()) generations_.pop_back();
  generations_.push_back(std::move(index));
  if (generations_.size() > kGenerations) generations_.erase(generations_.begin());
}

std::shared_ptr<const Index> SampleFiles::current() const {
  Lock lock(mutex_);
  return generations_.back();
}

Result<SampleFiles::Place> SampleFiles::find(NodeId node) const {
  Lock lock(mutex_);
  for (auto index = generations_.rbegin(); index != generations_.rend(); ++index) {
    if (const auto position = (*index)->find(node)) return Place{*index, *position};
  }
  return Error{Code::kNotFound, "no such node"};
}

Result<Attr> SampleFiles::lookup(NodeId parent, std::string_view name) {
  TRY(const Place place, find(parent));
  const auto position = place.index->child(place.position, name);
  if (!position) return Error{Code::kNotFound, "no such file"};
  return place.index->at(*position).attr();
}

Result<Attr> SampleFiles::stat(NodeId node) {
  TRY(const Place place, find(node));
  return place.index->at(place.position).attr();
}

Result<> SampleFiles::read_directory(NodeId node, std::uint64_t start, const EntrySink& sink) {
  TRY(const Place place, find(node));
  if (!place.index->at(place.position).directory) {
    return Error{Code::kInvalid, "not a directory"};
  }
  const auto [first, count] = place.index->children(place.position);
  for (std::uint64_t i = start; i < count; ++i) {
    const auto entry = place.index->at(first + static_cast<Index::Position>(i));
    if (!sink(entry.name, entry.attr())) break;
  }
  return Done{};
}

Result<std::size_t> SampleFiles::read(NodeId node, std::uint64_t offset,
                                      std::span<std::byte> into) {
  TRY(const Place place, find(node));
  const auto entry = place.index->at(place.position);
  if (entry.directory) return Error{Code::kInvalid, "a directory can not be read"};
  if (offset >= entry.size) return std::size_t{0};
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), entry.size - offset));
  if (size == 0) return size;
  if (entry.size > kBlockSize) plan_ahead(place, entry, offset, size);
  const std::string path = place.index->path_of(place.position);
  for (std::size_t done = 0; done < size;) {
    const Block block = place.index->block(entry, path, offset + done);
    const std::uint64_t within = offset + done - block.offset;
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(size - done, block.length - within));
    CHECK_DONE(data_.read(block, within, into.subspan(done, part), stop_.get_token()));
    done += part;
  }
  return size;
}

FsTotals SampleFiles::totals() const { return current()->totals(); }

void SampleFiles::plan_ahead(const Place& place, const Index::Entry& entry, std::uint64_t offset,
                             std::size_t size) {
  const std::uint64_t last = (offset + size - 1) / kBlockSize;
  Lock lock(ahead_mutex_);
  const std::uint64_t count = ahead_.observe(entry.id, offset, size);
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
    // The reader will ask for itself and be told.
    if (!done) log::debug("reading ahead failed", {{"error", done.error().message}});
  }
}

}  // namespace paddle::samplefs
