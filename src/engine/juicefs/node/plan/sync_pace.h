// SPDX-License-Identifier: Apache-2.0
//
// How much of the time a sync may run while readers of its node miss the cache. Pure.
// sync_pacer.h applies it.

#pragma once

#include <chrono>

namespace paddle::engine::juicefs {

inline constexpr double kLeastShare = 0.15;
inline constexpr std::chrono::milliseconds kPacePeriod{1'000};

// The share of the time to run from now on, for a caller that asks about once a second: kLeastShare
// as soon as readers miss, and step by step all of the time when they no longer do.
double next_share(double share, double missed_bytes_per_second);

// Whether a sync with this share runs now, `since` its beginning.
bool runs_now(double share, std::chrono::milliseconds since);

}  // namespace paddle::engine::juicefs
