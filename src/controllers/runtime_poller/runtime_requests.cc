// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/runtime_requests.h"

namespace paddle::controllers {

RuntimeRequests::RuntimeRequests(runtime::RuntimeSends sends, Wake wake, const Clock& clock)
    : sends_(std::move(sends)), clock_(clock), shared_(std::make_shared<Shared>()) {
  Lock lock(shared_->mutex);
  shared_->wake = std::move(wake);
}

RuntimeRequests::~RuntimeRequests() {
  Lock lock(shared_->mutex);
  shared_->wake = nullptr;
  while (shared_->calling > 0) shared_->changed.wait(shared_->mutex);
}

RuntimeRequests::Sent RuntimeRequests::send(const api::ObjectKey& owner,
                                            const RuntimeRequest& request, Ended ended) {
  std::optional<std::uint64_t> number;
  {
    Lock lock(shared_->mutex);
    const BootTime now = clock_.boot();
    if (auto outcome = shared_->state.outcome(owner, request, now)) {
      return {false, std::move(outcome)};
    }
    number = shared_->state.begin(owner, request, now);
  }
  if (!number) return {};
  sends_(request.call,
         [shared = shared_, number = *number, ended = std::move(ended), &clock = clock_](
             Result<> result) { finish(*shared, number, std::move(result), ended, clock); });
  Lock lock(shared_->mutex);
  if (auto outcome = shared_->state.outcome(owner, request, clock_.boot())) {
    return {true, std::move(outcome)};
  }
  shared_->state.wait(owner, request.uid);
  return {true, std::nullopt};
}

std::optional<Result<>> RuntimeRequests::take(const api::ObjectKey& owner,
                                              const RuntimeRequest& request) {
  Lock lock(shared_->mutex);
  return shared_->state.take(owner, request, clock_.boot());
}

bool RuntimeRequests::is_in_progress(const api::ObjectKey& owner,
                                     const RuntimeRequest& request) const {
  Lock lock(shared_->mutex);
  return shared_->state.is_in_progress(owner, request);
}

void RuntimeRequests::forget(const api::ObjectKey& owner) {
  Lock lock(shared_->mutex);
  shared_->state.forget(owner);
}

// The callbacks come first: an owner that finds the outcome finds their effect, too. The clock and
// what callbacks use may be gone unless the destructor waits.
void RuntimeRequests::finish(Shared& shared, std::uint64_t number, Result<> result,
                             const Ended& ended, const Clock& clock) {
  Wake wake;
  {
    Lock lock(shared.mutex);
    if (!shared.wake) return;
    wake = shared.wake;
    ++shared.calling;
  }
  if (ended) ended();
  std::vector<api::ObjectKey> owners;
  {
    Lock lock(shared.mutex);
    owners = shared.state.finished(number, std::move(result), clock.boot());
  }
  for (const api::ObjectKey& owner : owners) wake(owner);
  Lock lock(shared.mutex);
  --shared.calling;
  shared.changed.notify_all();
}

}  // namespace paddle::controllers
