// SPDX-License-Identifier: Apache-2.0
//
// Runs many small calls in parallel, on a bounded number of threads.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/sync.h"

namespace paddle {

// Calls work(0) ... work(count - 1), at most `threads` at a time, and returns when all have ended.
// After a failure no further call starts; the first failure is the result. `work` is called from
// several threads; with one call or one thread, from the caller's alone.
template <typename Work>
Result<> parallel_for(size_t count, size_t threads, const Work& work) {
  struct Failure {
    Mutex mutex;
    std::optional<Error> first GUARDED_BY(mutex);
  } failure;
  std::atomic<size_t> next{0};
  std::atomic<bool> broken{false};
  const auto run = [&] {
    for (size_t i = next++; i < count && !broken; i = next++) {
      Result<> done = work(i);
      if (done) continue;
      broken = true;
      Lock lock(failure.mutex);
      if (!failure.first) failure.first = std::move(done).error();
    }
  };
  const size_t total = std::min(threads, count);
  std::vector<std::jthread> workers;
  for (size_t i = 1; i < total; ++i) workers.emplace_back(run);
  run();
  workers.clear();  // joins
  Lock lock(failure.mutex);
  if (failure.first) return *failure.first;
  return Done{};
}

}  // namespace paddle
