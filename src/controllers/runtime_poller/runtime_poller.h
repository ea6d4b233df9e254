// SPDX-License-Identifier: Apache-2.0
//
// Polls runtimes for the passes of one controller (poll_state.h), on a thread of its own. Its calls
// never wait for a runtime. Thread-safe.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "controllers/runtime_poller/poll_state.h"

namespace paddle::controllers {

class RuntimePoller {
 public:
  // Called when the answer of a runtime may change a decision about the owner; it returns soon, and
  // may be called until the destructor returns.
  using Wake = std::function<void(const api::ObjectKey& owner)>;

  // Borrows the clock. `polls` may outlive it.
  // Not `threaded`: watch() polls what is due and returns when all have answered. For tests.
  RuntimePoller(runtime::RuntimePolls polls, Wake wake, const Clock& clock, bool threaded = true);
  ~RuntimePoller();
  RuntimePoller(const RuntimePoller&) = delete;
  RuntimePoller& operator=(const RuntimePoller&) = delete;

  // Those of PollState.
  void watch(const api::ObjectKey& owner, const std::vector<PolledRuntime>& runtimes,
             std::chrono::nanoseconds interval);
  void forget(const api::ObjectKey& owner);
  void refresh(const std::string& uid);
  std::optional<RuntimeAnswer> find(const api::ObjectKey& owner, const std::string& uid) const;

 private:
  // What polls in progress use; it outlives the poller while there are any.
  struct Shared {
    Mutex mutex;
    CondVar changed;
    PollState state GUARDED_BY(mutex);
    Wake wake GUARDED_BY(mutex);       // empty: the poller is gone
    int waking GUARDED_BY(mutex) = 0;  // calls of `wake` in progress
  };
  void run(const std::stop_token& stop);
  void poll_due();
  static void finish(Shared& shared, const PollState::Poll& poll,
                     Result<runtime::PollReport> result, BootTime now);

  const runtime::RuntimePolls polls_;
  const Clock& clock_;
  const std::shared_ptr<Shared> shared_;
  const bool threaded_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace paddle::controllers
