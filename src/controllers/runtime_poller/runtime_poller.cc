// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/runtime_poller.h"

#include <algorithm>

namespace paddle::controllers {

using std::chrono::nanoseconds;

constexpr nanoseconds kLongestPollerSleep = std::chrono::minutes{1};

RuntimePoller::RuntimePoller(runtime::RuntimePolls polls, Wake wake, const Clock& clock,
                             bool threaded)
    : polls_(std::move(polls)),
      clock_(clock),
      shared_(std::make_shared<Shared>()),
      threaded_(threaded) {
  {
    Lock lock(shared_->mutex);
    shared_->wake = std::move(wake);
  }
  if (threaded_) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

RuntimePoller::~RuntimePoller() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  Lock lock(shared_->mutex);
  shared_->wake = nullptr;
  while (shared_->waking > 0) shared_->changed.wait(shared_->mutex);
}

void RuntimePoller::watch(const api::ObjectKey& owner, const std::vector<PolledRuntime>& runtimes,
                          nanoseconds interval) {
  {
    Lock lock(shared_->mutex);
    shared_->state.watch(owner, runtimes, interval, clock_.boot());
    shared_->changed.notify_all();
  }
  if (!threaded_) poll_due();
}

void RuntimePoller::forget(const api::ObjectKey& owner) {
  Lock lock(shared_->mutex);
  shared_->state.forget(owner);
}

void RuntimePoller::refresh(const std::string& uid) {
  Lock lock(shared_->mutex);
  shared_->state.refresh(uid);
  shared_->changed.notify_all();
}

std::optional<RuntimeAnswer> RuntimePoller::find(const api::ObjectKey& owner,
                                                 const std::string& uid) const {
  Lock lock(shared_->mutex);
  return shared_->state.find(owner, uid, clock_.boot());
}

void RuntimePoller::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    poll_due();
    Lock lock(shared_->mutex);
    const BootTime now = clock_.boot();
    const auto due = shared_->state.next_due();
    if (due && *due <= now) continue;
    const nanoseconds left = due ? *due - now : kLongestPollerSleep;
    shared_->changed.wait_for(shared_->mutex, stop, std::min(left, kLongestPollerSleep));
  }
}

void RuntimePoller::poll_due() {
  std::vector<PollState::Poll> polls;
  {
    Lock lock(shared_->mutex);
    polls = shared_->state.take_due(clock_.boot());
  }
  for (const PollState::Poll& poll : polls) {
    polls_(poll.call,
           [shared = shared_, poll, &clock = clock_](Result<runtime::PollReport> result) {
             finish(*shared, poll, std::move(result), clock.boot());
           });
  }
}

void RuntimePoller::finish(Shared& shared, const PollState::Poll& poll,
                           Result<runtime::PollReport> result, BootTime now) {
  std::vector<api::ObjectKey> owners;
  Wake wake;
  {
    Lock lock(shared.mutex);
    owners = shared.state.finished(poll, std::move(result), now);
    shared.changed.notify_all();
    if (!shared.wake || owners.empty()) return;
    wake = shared.wake;
    ++shared.waking;
  }
  for (const api::ObjectKey& owner : owners) wake(owner);
  Lock lock(shared.mutex);
  --shared.waking;
  shared.changed.notify_all();
}

}  // namespace paddle::controllers
