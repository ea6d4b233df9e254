// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/work_progress.h"

namespace paddle::engine::juicefs {

void TransferRate::update(Progress& progress) {
  if (first_ < 0) first_ = progress.bytes_done;
  const std::chrono::duration<double> passed = clock_.boot() - began_;
  const auto bytes = static_cast<double>(progress.bytes_done - first_);
  if (passed.count() < 0.1 || bytes <= 0) return;
  const double rate = bytes / passed.count();
  progress.bytes_per_second = static_cast<std::int64_t>(rate);
  if (progress.bytes_total > progress.bytes_done) {
    const auto left = static_cast<double>(progress.bytes_total - progress.bytes_done);
    progress.seconds_left = static_cast<std::int64_t>(left / rate) + 1;
  }
}

}  // namespace paddle::engine::juicefs
