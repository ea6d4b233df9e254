// SPDX-License-Identifier: Apache-2.0
//
// What the plans of all controllers are made of. Pure values: a controller's `desired()` returns
// them, its reconciler executes them.
//
//   PlanOf       actions in waves, the status to write after them, when to plan again
//   BlockReason  why an object makes no progress
//   EmitEvent    the action that every controller has

#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddle::controllers {

// A reason for the condition and a sentence for people.
struct BlockReason {
  std::string reason{};   // CamelCase; empty: nothing blocks the object
  std::string message{};  // one sentence, with the next step or with what is waited for
  bool blocks() const { return !reason.empty(); }
  bool operator==(const BlockReason&) const = default;
};

// An event about the object that the plan is for.
struct EmitEvent {
  bool warning = false;
  std::string reason{};
  std::string message{};
  bool operator==(const EmitEvent&) const = default;
};

// The earlier of two times, either of which may be missing.
template <typename Time>
void earliest(std::optional<Time>& first, const std::optional<Time>& other) {
  if (other && (!first || *other < *first)) first = other;
}

template <typename Action, typename Status>
struct PlanOf {
  using Wave = std::vector<Action>;  // its actions may run at the same time

  std::vector<Wave> waves{};  // one after the other; a wave starts when the one before succeeded
  // Written after the waves; absent: it already says this. A write may wait for `status_delay`, so
  // that changes in quick succession are one write: how long is each controller's status_delay().
  std::optional<Status> status{};
  std::chrono::nanoseconds status_delay{0};
  // Plan again after this time even if no watched object changes; 0: at once.
  std::optional<std::chrono::nanoseconds> requeue_after{};

  // Whether the status is written in this pass, or has to wait for a later one.
  bool writes_status() const { return status && status_delay <= std::chrono::nanoseconds{0}; }
  bool delays_status() const { return status && !writes_status(); }
  // When to plan again, also because of a status that waits.
  std::optional<std::chrono::nanoseconds> next_pass() const {
    return delays_status() ? std::min(requeue_after.value_or(status_delay), status_delay)
                           : requeue_after;
  }

  void add(Action action) { waves.push_back(Wave{std::move(action)}); }
  void add(Wave wave) {
    if (!wave.empty()) waves.push_back(std::move(wave));
  }
  void requeue_within(std::chrono::nanoseconds time) {
    requeue_after = requeue_after ? std::min(*requeue_after, time) : time;
  }

  bool has_events() const {
    return std::ranges::any_of(waves, [](const Wave& wave) {
      return std::ranges::any_of(
          wave, [](const Action& action) { return std::holds_alternative<EmitEvent>(action); });
    });
  }

  bool operator==(const PlanOf&) const = default;
};

}  // namespace paddle::controllers
