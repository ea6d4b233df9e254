// SPDX-License-Identifier: Apache-2.0
#include "local/node/restart_backoff.h"

#include <algorithm>

namespace paddle::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kFirstPause{1};
constexpr seconds kLongestPause{60};

}  // namespace

RestartBackoff backoff_after(int early, milliseconds ran, bool readers_wait) {
  if (ran >= kHealthyRun) return {};
  const int now = early + 1;
  if (now <= (readers_wait ? kImmediateRestarts : 1)) return {.early = now};
  if (readers_wait) return {.pause = kFirstPause, .early = now};
  const int doublings = std::min(now - 2, 6);
  return {.pause = std::min<milliseconds>(kLongestPause, kFirstPause * (1 << doublings)),
          .early = now};
}

bool readers_wait_for(const PodSpec& pod) {
  return std::ranges::any_of(pod.volumes, [](const auto& volume) {
    const auto* asked = std::get_if<RuntimeVolume>(&volume.second);
    return asked && asked->session;
  });
}

}  // namespace paddle::local
