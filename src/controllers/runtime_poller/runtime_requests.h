// SPDX-License-Identifier: Apache-2.0
//
// Sends jobs and cancellations to runtimes for the passes of one controller (request_state.h). A
// call never waits for a runtime: a pass that gets no outcome ends, and its key is woken when there
// is one. Thread-safe.

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/sync.h"
#include "controllers/runtime_poller/request_state.h"

namespace paddle::controllers {

class RuntimeRequests {
 public:
  // Called when a request that the owner waits for has ended; it returns soon, and may be called
  // until the destructor returns.
  using Wake = std::function<void(const api::ObjectKey& owner)>;
  // Called once when a request that has begun has ended, before any owner is woken, like Wake.
  using Ended = std::function<void()>;

  // Borrows the clock. `sends` may outlive it.
  RuntimeRequests(runtime::RuntimeSends sends, Wake wake, const Clock& clock);
  ~RuntimeRequests();
  RuntimeRequests(const RuntimeRequests&) = delete;
  RuntimeRequests& operator=(const RuntimeRequests&) = delete;

  struct Sent {
    bool begun = false;  // by this call
    // Absent: not known yet, and the owner is woken.
    std::optional<Result<>> outcome{};
  };
  // The outcome of this request if there is one (request_state.h); otherwise begins it unless it is
  // in progress.
  Sent send(const api::ObjectKey& owner, const RuntimeRequest& request, Ended ended);
  // The outcome of a request that has ended; it is not given again. Begins nothing.
  std::optional<Result<>> take(const api::ObjectKey& owner, const RuntimeRequest& request);
  // It has no outcome yet, though the runtime may have done it, and its owner will be woken.
  bool is_in_progress(const api::ObjectKey& owner, const RuntimeRequest& request) const;
  void forget(const api::ObjectKey& owner);

 private:
  // What requests in progress use; it outlives this object while there are any.
  struct Shared {
    Mutex mutex;
    CondVar changed;
    RequestState state GUARDED_BY(mutex);
    Wake wake GUARDED_BY(mutex);        // empty: this object is gone
    int calling GUARDED_BY(mutex) = 0;  // callbacks in progress
  };
  static void finish(Shared& shared, std::uint64_t number, Result<> result, const Ended& ended,
                     const Clock& clock);

  const runtime::RuntimeSends sends_;
  const Clock& clock_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace paddle::controllers
