// SPDX-License-Identifier: Apache-2.0
//
// Warm-up: downloads files into the store in the background, in the given order, several at once.
// Files that are cached are skipped, so an interrupted warm-up resumes when it is run again. When
// the store is full, files that do not fit are not downloaded.
//
// Readers have priority: while one waits for the source, only a few workers continue. Some do,
// because one reader does not saturate a link with high latency.
//
// A failed file is counted and the others continue; the caller decides whether the warm-up failed.
// Call run() once per Filler; progress() is thread-safe.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/index.h"
#include "samplefs/read_through.h"

namespace paddle::samplefs {

struct FillOptions {
  int workers = 16;
  int workers_beside_readers = 4;
};

// "Done" files are in the store; total = done + failed + no_room once it has run to its end.
struct FillProgress {
  std::uint64_t files_total = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t files_done = 0;
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_downloaded = 0;  // part of bytes_done, by this run
  std::uint64_t files_failed = 0;
  std::uint64_t files_no_room = 0;
  std::chrono::nanoseconds elapsed{};
  bool finished = false;
  std::string first_error{};

  double bytes_per_second() const;  // downloaded
  // Nothing before the first byte.
  std::optional<std::chrono::seconds> time_left() const;
};

class Filler {
 public:
  // All files of the index, or those of `files` in that order.
  Filler(const std::shared_ptr<const Index>& index, ReadThrough& data, FillOptions options = {},
         const Clock& clock = system_clock());
  Filler(std::shared_ptr<const Index> index, std::vector<Index::Position> files, ReadThrough& data,
         FillOptions options = {}, const Clock& clock = system_clock());

  // Blocks until all files are done or `stop` is requested (kCancelled; progress() stays valid).
  Result<> run(std::stop_token stop);

  FillProgress progress() const EXCLUDES(mutex_);

 private:
  enum class Outcome { kDone, kFailed, kNoRoom, kStopped };

  void work(int number, const std::stop_token& stop);
  Outcome fill(Index::Position position, const std::stop_token& stop);

  const std::shared_ptr<const Index> index_;
  const std::vector<Index::Position> files_;
  ReadThrough& data_;
  const FillOptions options_;
  const Clock& clock_;
  std::uint64_t bytes_total_ = 0;  // constant after construction

  std::atomic<std::size_t> next_ = 0;
  mutable Mutex mutex_;
  FillProgress counted_ GUARDED_BY(mutex_);
  BootTime started_ GUARDED_BY(mutex_){};
  bool running_ GUARDED_BY(mutex_) = false;
};

// Every file of an index, in its order.
std::vector<Index::Position> all_files(const Index& index);

}  // namespace paddle::samplefs
