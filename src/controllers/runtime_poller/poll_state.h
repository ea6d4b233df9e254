// SPDX-License-Identifier: Apache-2.0
//
// Which runtimes to poll, when, and for which jobs; and what they answered last. A value without
// clock, lock or thread; RuntimePoller adds these. Holds credentials: never printed.
//
// Several owners (SampleJobs of one set) may want to know about one runtime: it is asked once for
// all of them. Guarantees:
//   - one poll of a runtime at a time, at most kMostPollsAtOnce in all;
//   - the next poll begins one interval after the last one ended, the shortest of its owners; after
//     a poll that failed within kPollRetryInterval; at once when an owner wants more than was asked
//     for, when the credentials change, and after refresh();
//   - runtimes are asked in the order in which they became due: those that do not answer delay no
//     other, unless kMostPollsAtOnce of them are asked at the same time;
//   - an owner gets no answer to a question that it had not asked yet: not to a poll for fewer
//     jobs, and not to one that began before refresh();
//   - owners that do not call watch() for kPollOwnerExpiry are forgotten, and with its last owner a
//     runtime: memory is that of the living, also after a lost lease.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/meta.h"
#include "base/clock.h"
#include "engine/time_limits.h"
#include "runtime/runtime_polls.h"

namespace paddle::controllers {

inline constexpr std::size_t kMostPollsAtOnce = 256;

// A runtime that an owner wants to know about.
struct PolledRuntime {
  std::string uid{};  // of its pod
  runtime::PollCall call{};
};

// What a runtime answered to its last poll.
struct RuntimeAnswer {
  std::optional<Error> error{};  // why it did not answer
  runtime::PollReport report{};  // when it did; its jobs are at least those that the owner wants
  // Since its last answer, or since the first poll of it began; 0: it has answered.
  std::chrono::nanoseconds unreachable_for{};
};
// Null: the runtime does not know the job.
const runtime::JobReport* find_job(const RuntimeAnswer& answer, const std::string& id);

class PollState {
 public:
  // `owner` wants to know about these runtimes and no others, each polled every `interval`.
  void watch(const api::ObjectKey& owner, const std::vector<PolledRuntime>& runtimes,
             std::chrono::nanoseconds interval, BootTime now);
  void forget(const api::ObjectKey& owner);
  // The caller has changed something at this runtime.
  void refresh(const std::string& uid);

  // Absent: no answer yet to what the owner wants to know. An error stays until it answers.
  std::optional<RuntimeAnswer> find(const api::ObjectKey& owner, const std::string& uid,
                                    BootTime now) const;

  struct Poll {
    std::string uid{};
    std::uint64_t number = 0;
    runtime::PollCall call{};
  };
  // The polls that begin now. Each is to be ended by finished(), whatever becomes of it.
  std::vector<Poll> take_due(BootTime now);
  // The owners for whom the answer may change a decision: a runtime answers again or no longer, a
  // job changes its state, an index is published. Progress alone is not among these.
  std::vector<api::ObjectKey> finished(const Poll& poll, Result<runtime::PollReport> result,
                                       BootTime now);
  // When take_due() will have something; absent: nothing is due until something changes.
  std::optional<BootTime> next_due() const;

  std::size_t runtimes() const { return runtimes_.size(); }
  std::size_t in_progress() const { return in_progress_; }

 private:
  struct Wanted {
    std::set<std::string> jobs{};
    std::chrono::nanoseconds interval{};
  };
  struct Runtime {
    std::string address{};
    runtime::RuntimeCredentials access{};
    std::map<api::ObjectKey, Wanted> owners{};
    std::uint64_t polling = 0;  // number of the poll in progress; 0: none
    std::uint64_t count = 0;    // polls that have begun
    // Answers to polls up to this number no longer count: something has changed since.
    std::uint64_t outdated = 0;
    std::optional<BootTime> due{};
    BootTime reachable{};  // its last answer, or the begin of the first poll
    // The last answer, its number, and what was asked for.
    std::uint64_t answered = 0;
    std::set<std::string> asked{};
    std::set<std::string> asking{};  // by the poll in progress
    std::optional<Error> error{};
    runtime::PollReport report{};
  };
  using Runtimes = std::map<std::string, Runtime>;

  void drop_owner(const api::ObjectKey& owner, const std::set<std::string>& except);
  void expire_owners(BootTime now);
  void schedule(const std::string& uid, Runtime& runtime, std::optional<BootTime> due);
  static bool is_answered(const Runtime& runtime, const Wanted& wanted);
  bool needs_poll(const Runtime& runtime) const;

  Runtimes runtimes_{};  // by uid
  std::set<std::pair<BootTime, std::string>> due_{};
  std::map<api::ObjectKey, BootTime> owners_{};  // when each called watch() last
  std::map<api::ObjectKey, std::set<std::string>> of_owner_{};
  std::size_t in_progress_ = 0;
  std::uint64_t numbers_ = 0;
};

}  // namespace paddle::controllers
