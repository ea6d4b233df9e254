// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/workqueue.h"

#include <algorithm>

namespace paddle::controllers {
namespace {

using std::chrono::nanoseconds;

// Waits are relative and repeated, so a bound costs one wake-up and avoids overflow.
constexpr nanoseconds kLongestWait = std::chrono::minutes{10};

double in_seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

BootTime later(BootTime now, nanoseconds pause) {
  constexpr nanoseconds kFarthest = std::chrono::hours{24 * 365};
  return now + std::clamp(pause, nanoseconds{0}, kFarthest);
}

}  // namespace

WorkQueue::WorkQueue(const std::string& controller, QueueLimits limits, const Clock& clock,
                     Random& random, Metrics& metrics)
    : clock_(clock),
      random_(random),
      depth_(metrics.gauge("paddle_workqueue_depth", "Keys whose turn has come.",
                           {{"controller", controller}})),
      delayed_(metrics.gauge("paddle_workqueue_delayed", "Keys that wait for a time.",
                             {{"controller", controller}})),
      adds_(metrics.counter("paddle_workqueue_adds_total", "Keys that were put in line.",
                            {{"controller", controller}})),
      retries_(metrics.counter("paddle_workqueue_retries_total", "Keys put back after a failure.",
                               {{"controller", controller}})),
      longest_running_(metrics.gauge("paddle_workqueue_longest_running_seconds",
                                     "Age of the oldest pass in progress.",
                                     {{"controller", controller}})),
      wait_seconds_(metrics.seconds("paddle_workqueue_wait_seconds",
                                    "From a key's turn to its pass.",
                                    {{"controller", controller}})),
      state_(limits) {}

void WorkQueue::add(const ObjectKey& key) {
  Lock lock(mutex_);
  if (!state_.add(key, clock_.boot())) return;
  adds_.Increment();
  publish_depth();
  work_.notify_one();
}

void WorkQueue::add_after(const ObjectKey& key, nanoseconds pause) {
  Lock lock(mutex_);
  const BootTime now = clock_.boot();
  state_.add_at(key, later(now, pause), now);
  adds_.Increment();
  publish_depth();
  work_.notify_one();
}

std::optional<QueueState::Taken> WorkQueue::take(std::stop_token stop) {
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!open_) {
      work_.wait(mutex_, stop);
      continue;
    }
    const BootTime now = clock_.boot();
    if (auto taken = state_.take(now)) {
      wait_seconds_.Observe(in_seconds(taken->waited));
      publish_depth();
      // Another key may be ready without a wake-up of its own: promotion makes several at once.
      if (state_.depth() > 0) work_.notify_one();
      return taken;
    }
    const auto due = state_.next_due();
    const auto pause = due ? std::clamp(*due - now, nanoseconds{0}, kLongestWait) : kLongestWait;
    work_.wait_for(mutex_, stop, pause);
  }
  return std::nullopt;
}

void WorkQueue::finished(const ObjectKey& key) {
  Lock lock(mutex_);
  state_.finished(key, clock_.boot());
  publish_depth();
  if (state_.depth() > 0) work_.notify_one();
  idle_.notify_all();
}

void WorkQueue::again(const ObjectKey& key, nanoseconds pause) {
  Lock lock(mutex_);
  const BootTime now = clock_.boot();
  state_.again_at(key, later(now, pause), now);
  publish_depth();
  work_.notify_one();
  idle_.notify_all();
}

nanoseconds WorkQueue::failed(const ObjectKey& key, nanoseconds at_least) {
  Lock lock(mutex_);
  retries_.Increment();
  const auto pause = state_.failed(key, clock_.boot(), random_.uniform(), at_least);
  publish_depth();
  work_.notify_one();
  idle_.notify_all();
  return pause;
}

void WorkQueue::abandoned(const ObjectKey& key) {
  Lock lock(mutex_);
  state_.abandoned(key, clock_.boot());
  publish_depth();
  work_.notify_one();
  idle_.notify_all();
}

void WorkQueue::open() {
  Lock lock(mutex_);
  open_ = true;
  work_.notify_all();
}

void WorkQueue::close() {
  Lock lock(mutex_);
  open_ = false;
  work_.notify_all();
}

bool WorkQueue::wait_idle(nanoseconds limit) {
  Lock lock(mutex_);
  const BootTime deadline = later(clock_.boot(), limit);
  while (state_.running() > 0) {
    const BootTime now = clock_.boot();
    if (now >= deadline) return false;
    idle_.wait_for(mutex_, {}, std::min(deadline - now, kLongestWait));
  }
  return true;
}

size_t WorkQueue::depth() const {
  Lock lock(mutex_);
  return state_.depth();
}

size_t WorkQueue::running() const {
  Lock lock(mutex_);
  return state_.running();
}

std::chrono::nanoseconds WorkQueue::longest_running() const {
  Lock lock(mutex_);
  return state_.longest_running(clock_.boot());
}

void WorkQueue::refresh_metrics() {
  Lock lock(mutex_);
  longest_running_.Set(in_seconds(state_.longest_running(clock_.boot())));
  publish_depth();
}

void WorkQueue::publish_depth() {
  depth_.Set(static_cast<double>(state_.depth()));
  delayed_.Set(static_cast<double>(state_.delayed()));
}

}  // namespace paddle::controllers
