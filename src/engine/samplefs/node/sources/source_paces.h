// SPDX-License-Identifier: Apache-2.0
//
// The rate budgets of the sources of a set: one per source, however often it is opened.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/sync.h"
#include "source/pace.h"

namespace paddle::engine::samplefs {

class SourcePaces {
 public:
  // The budget of the source of that name, which has this rate from now on. 0: no limit.
  std::shared_ptr<source::Pace> of(const std::string& name, std::uint64_t bytes_per_second)
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    auto& pace = paces_[name];
    if (!pace) pace = std::make_shared<source::Pace>(bytes_per_second);
    pace->set_rate(bytes_per_second);
    return pace;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<source::Pace>> paces_ GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
