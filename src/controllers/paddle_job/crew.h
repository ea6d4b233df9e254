// SPDX-License-Identifier: Apache-2.0
//
// Many small calls at once, by a bounded number of threads.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/sync.h"

namespace paddle::controllers {

// Calls work(0) ... work(count - 1), `hands` at a time, and returns when all have ended. After a
// failure no further call begins; the first failure is the result. `work` is called by several
// threads; with one call, or one hand, by the caller's.
template <typename Work>
Result<> in_parallel(size_t count, size_t hands, const Work& work) {
  struct Failure {
    Mutex mutex;
    std::optional<Error> first GUARDED_BY(mutex);
  } failure;
  std::atomic<size_t> next{0};
  std::atomic<bool> broken{false};
  const auto labour = [&] {
    for (size_t i = next++; i < count && !broken; i = next++) {
      Result<> done = work(i);
      if (done) continue;
      broken = true;
      Lock lock(failure.mutex);
      if (!failure.first) failure.first = std::move(done).error();
    }
  };
  const size_t helpers = std::min(hands, count);
  std::vector<std::jthread> crew;
  for (size_t i = 1; i < helpers; ++i) crew.emplace_back(labour);
  labour();
  crew.clear();  // joins
  Lock lock(failure.mutex);
  if (failure.first) return *failure.first;
  return Done{};
}

}  // namespace paddle::controllers
