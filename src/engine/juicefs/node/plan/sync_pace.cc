// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/sync_pace.h"

#include <algorithm>

namespace paddle::engine::juicefs {
namespace {

constexpr double kReadersAtWork = 256 << 10;  // bytes a second
constexpr double kStep = 0.2;                 // all of the time again after five quiet seconds

}  // namespace

double next_share(double share, double missed_bytes_per_second) {
  if (missed_bytes_per_second >= kReadersAtWork) return kLeastShare;
  return std::clamp(share + kStep, kLeastShare, 1.0);
}

bool runs_now(double share, std::chrono::milliseconds since) {
  if (share >= 1) return true;
  const auto at = static_cast<double>((since % kPacePeriod).count());
  return at < share * static_cast<double>(kPacePeriod.count());
}

}  // namespace paddle::engine::juicefs
