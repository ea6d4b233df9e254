// SPDX-License-Identifier: Apache-2.0
//
// How a sync gives way to readers. While readers of this node's mount fetch from the object store
// (misses of the cache), the sync runs only a small part of the time; it never stands still. Reads
// that the cache serves do not slow it down. sync_pace.h decides.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/clock.h"

namespace paddle::engine::juicefs {

class SyncPacer {
 public:
  // `misses` says how many bytes readers did not find in the cache so far; below zero: not known.
  // It may take long, even for ever: it is called on a thread of its own, which nobody waits for,
  // so it has to own whatever it needs.
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
