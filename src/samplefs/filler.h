// SPDX-License-Identifier: Apache-2.0
//
// Warm-up: brings files into the store in the background, in the order given, several at once. What
// is there already is skipped, so that an interrupted warm-up resumes by being run again. When the
// store is full, what does not fit is not downloaded.
//
// Readers come first: while one waits for the source, only a few workers go on. Not none: one
// reader at a time does not fill a long link, and an epoch ends when all bytes have come.
//
// A failed file is counted and the rest goes on; the caller decides what that means. One run() per
// Filler; progress() from any thread.

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
  std::uint64_t bytes_downloaded = 0;  // of bytes_done, by this run
  std::uint64_t files_failed = 0;
  std::uint64_t files_no_room = 0;
  std::chrono::nanoseconds elapsed{};
  bool finished = false;
  std::string first_error{};

  double bytes_per_second() const;  // downloaded
  // Unknown (nothing) before the first byte.
  std::optional<std::chrono::seconds> time_left() const;
};

class Filler {
 public:
  // All files of the index, or those of `files` in that order.
  Filler(std::shared_ptr<const Index> index, ReadThrough& data, FillOptions options = {},
         const Clock& clock = system_clock());
  Filler(std::shared_ptr<const Index> index, std::vector<Index::Position> files, ReadThrough& data,
         FillOptions options = {}, const Clock& clock = system_clock());

  // Blocks until all is done or `stop` is asked for (kCancelled; progress() stays valid).
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
