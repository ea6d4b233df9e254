// SPDX-License-Identifier: Apache-2.0
//
// Slows a sync down while readers of this node's mount miss the cache and fetch from the object
// store: it then runs only a small part of the time, but never stops altogether. Reads that the
// cache serves do not slow it down. sync_pace.h computes the share.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/clock.h"

namespace paddle::engine::juicefs {

class SyncPacer {
 public:
  // `misses` returns how many bytes readers have missed in the cache so far; negative: not known.
  // It may block for ever: it runs on a detached thread, so it must own everything that it uses.
  explicit SyncPacer(std::function<double()> misses);
  ~SyncPacer();
  SyncPacer(const SyncPacer&) = delete;
  SyncPacer& operator=(const SyncPacer&) = delete;

  bool runs_now() const;  // any thread
  double share() const { return state_->share; }

 private:
  struct State {
    std::function<double()> misses{};
    std::atomic<double> share{1};
    std::stop_source end{};
  };
  static void run(State& state);

  const std::shared_ptr<State> state_;
  const BootTime began_;
};

}  // namespace paddle::engine::juicefs
