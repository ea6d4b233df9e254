// SPDX-License-Identifier: Apache-2.0
//
// How a sync gives way to readers. While readers of this node's mount fetch from the object store
// (misses of the cache), the sync runs only a small part of the time; it never stands still. Reads
// that the cache serves do not slow it down. The functions are pure; Pacer looks at a mount.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/clock.h"

namespace paddle::engine::juicefs {

inline constexpr double kLeastShare = 0.15;
inline constexpr std::chrono::milliseconds kPacePeriod{1'000};

// The share of the time to run from now on: at once little when readers miss, and step by step all
// of it when they no longer do. Asked about once a second.
double next_share(double share, double missed_bytes_per_second);

// Whether something that has this share runs now, `since` its beginning.
bool runs_now(double share, std::chrono::milliseconds since);

class Pacer {
 public:
  // `misses` says how many bytes readers did not find in the cache so far; below zero: not known.
  // It may take long, even for ever: it is called on a thread of its own, which nobody waits for,
  // so it has to own whatever it needs.
  explicit Pacer(std::function<double()> misses);
  ~Pacer();
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  bool runs_now() const;  // any thread
  double share() const { return look_->share; }

 private:
  struct Look {
    std::function<double()> misses{};
    std::atomic<double> share{1};
    std::stop_source end{};
  };
  static void run(Look& look);

  const std::shared_ptr<Look> look_;
  const BootTime began_;
};

}  // namespace paddle::engine::juicefs
