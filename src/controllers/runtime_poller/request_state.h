// SPDX-License-Identifier: Apache-2.0
//
// Requests to runtimes that passes of a controller have begun, and how those ended. A value without
// clock, lock or thread; RuntimeRequests adds these. Holds credentials: never printed.
//
// Guarantees:
//   - a runtime has one request at a time, so that requests arrive in the order of their begin;
//   - at most kMostRequestsAtOnce are in progress, and kMostRequestsOfANamespace for one namespace:
//     runtimes of one tenant that do not answer delay no other tenant;
//   - nothing begins outside of begin(): a pass that lost its lease sends nothing later;
//   - the outcome of a request is given to its owner once, and kept for kOutcomeExpiry at most.
//     A cancellation that succeeded stays so until the owner sends the job again: an owner that
//     waits for several cancellations does not repeat those that are done.

#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/meta.h"
#include "base/clock.h"
#include "base/result.h"
#include "runtime/runtime_sends.h"

namespace paddle::controllers {

inline constexpr std::size_t kMostRequestsAtOnce = 256;
inline constexpr std::size_t kMostRequestsOfANamespace = 64;
inline constexpr std::chrono::seconds kOutcomeExpiry{60};

// A job for one runtime, or its cancellation.
struct RuntimeRequest {
  std::string uid{};  // of the runtime's pod
  runtime::JobCall call{};
};

class RequestState {
 public:
  // How this request of the owner ended; absent: it has not ended, was never begun, or its outcome
  // was given before.
  std::optional<Result<>> outcome(const api::ObjectKey& owner, const RuntimeRequest& request,
                                  BootTime now);
  // The same, and it is not given again.
  std::optional<Result<>> take(const api::ObjectKey& owner, const RuntimeRequest& request,
                               BootTime now);
  bool is_in_progress(const api::ObjectKey& owner, const RuntimeRequest& request) const;
  // The number of the request that the caller has to send now; it is ended by finished(), whatever
  // becomes of it. Absent: something else is in progress, and the owner is woken when it has ended.
  std::optional<std::uint64_t> begin(const api::ObjectKey& owner, const RuntimeRequest& request,
                                     BootTime now);
  // The owner is woken when the request that this runtime has now has ended.
  void wait(const api::ObjectKey& owner, const std::string& uid);
  // The owners to wake.
  std::vector<api::ObjectKey> finished(std::uint64_t number, Result<> result, BootTime now);
  void forget(const api::ObjectKey& owner);

  std::size_t in_progress() const { return current_.size(); }
  std::size_t outcomes() const { return outcomes_.size(); }

 private:
  struct Key {
    api::ObjectKey owner{};
    std::string uid{};
    std::string id{};
    bool cancels = false;
    auto operator<=>(const Key&) const = default;
  };
  struct Outcome {
    Result<> result;
    BootTime at{};
  };
  static Key key_of(const api::ObjectKey& owner, const RuntimeRequest& request);
  void expire(BootTime now);

  std::map<std::uint64_t, Key> current_{};
  std::map<std::string, std::set<api::ObjectKey>> busy_{};  // by uid: who waits for its end
  std::map<std::string, std::size_t> of_namespace_{};
  std::set<api::ObjectKey> waits_for_room_{};
  std::map<Key, Outcome> outcomes_{};
  std::deque<std::pair<BootTime, Key>> ended_{};  // in this order
  std::uint64_t numbers_ = 0;
};

}  // namespace paddle::controllers
