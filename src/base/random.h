// SPDX-License-Identifier: Apache-2.0
//
// Randomness as an argument: a seedable source that tests can fix. Thread-safe.

#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "base/sync.h"

namespace paddle {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next();
  double uniform();                          // [0, 1)
  std::uint64_t below(std::uint64_t limit);  // [0, limit); limit > 0
  std::string hex(size_t length);            // lower-case hexadecimal digits

 private:
  Mutex mutex_;
  std::mt19937_64 engine_ GUARDED_BY(mutex_);
};

// Seeded from the operating system, once per process.
Random& system_random();

}  // namespace paddle
