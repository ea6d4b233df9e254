// SPDX-License-Identifier: Apache-2.0
#include "samplefs/filler.h"

#include <algorithm>
#include <thread>

namespace paddle::samplefs {

double FillProgress::bytes_per_second() const {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  return seconds > 0 ? static_cast<double>(bytes_downloaded) / seconds : 0;
}

std::optional<std::chrono::seconds> FillProgress::time_left() const {
  if (finished) return std::chrono::seconds{0};
  if (bytes_per_second() <= 0) return {};
  const double left = static_cast<double>(bytes_total - std::min(bytes_done, bytes_total));
  return std::chrono::seconds{static_cast<std::int64_t>(left / bytes_per_second()) + 1};
}

std::vector<Index::Position> all_files(const Index& index) {
  std::vector<Index::Position> files;
  files.reserve(index.totals().files);
  for (Index::Position i = 0; i < index.size(); ++i) {
    if (!index.at(i).directory) files.push_back(i);
  }
  return files;
}

Filler::Filler(const std::shared_ptr<const Index>& index, ReadThrough& data, FillOptions options,
               const Clock& clock)
    : Filler(index, all_files(*index), data, options, clock) {}

Filler::Filler(std::shared_ptr<const Index> index, std::vector<Index::Position> files,
               ReadThrough& data, FillOptions options, const Clock& clock)
    : index_(std::move(index)),
      files_(std::move(files)),
      data_(data),
      options_(options),
      clock_(clock) {
  for (const Index::Position position : files_) bytes_total_ += index_->at(position).size;
}

Result<> Filler::run(std::stop_token stop) {
  {
    Lock lock(mutex_);
    started_ = clock_.boot();
    running_ = true;
  }
  {
    std::vector<std::jthread> workers;
    for (int number = 0; number < std::max(options_.workers, 1); ++number) {
      workers.emplace_back([this, number, &stop] { work(number, stop); });
    }
  }
  Lock lock(mutex_);
  counted_.elapsed = clock_.boot() - started_;
  running_ = false;
  if (stop.stop_requested()) return Error{Code::kCancelled, "the warm-up was stopped"};
  counted_.finished = true;
  return Done{};
}

void Filler::work(int number, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (number >= options_.workers_beside_readers) data_.wait_for_readers(stop);
    const std::size_t place = next_.fetch_add(1, std::memory_order_relaxed);
    if (place >= files_.size()) return;
    const Outcome outcome = fill(files_[place], stop);
    Lock lock(mutex_);
    if (outcome == Outcome::kDone) {
      ++counted_.files_done;
    } else if (outcome == Outcome::kNoRoom) {
      ++counted_.files_no_room;
    } else if (outcome == Outcome::kFailed) {
      ++counted_.files_failed;
    }
  }
}

Filler::Outcome Filler::fill(Index::Position position, const std::stop_token& stop) {
  const auto entry = index_->at(position);
  const std::string path = index_->path_of(position);
  for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
    const Block block = index_->block(entry, path, at);
    const auto filled = data_.fill(block, stop);
    if (filled.is(Code::kCancelled)) return Outcome::kStopped;
    if (!filled) {
      Lock lock(mutex_);
      if (counted_.first_error.empty()) counted_.first_error = filled.error().message;
      return Outcome::kFailed;
    }
    if (*filled == ReadThrough::Filled::kNoRoom) return Outcome::kNoRoom;
    Lock lock(mutex_);
    counted_.bytes_done += block.length;
    if (*filled == ReadThrough::Filled::kDownloaded) counted_.bytes_downloaded += block.length;
  }
  return Outcome::kDone;
}

FillProgress Filler::progress() const {
  Lock lock(mutex_);
  FillProgress progress = counted_;
  progress.files_total = files_.size();
  progress.bytes_total = bytes_total_;
  if (running_) progress.elapsed = clock_.boot() - started_;
  return progress;
}

}  // namespace paddle::samplefs
