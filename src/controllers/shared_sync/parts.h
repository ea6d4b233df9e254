// SPDX-License-Identifier: Apache-2.0
//
// The parts of one job, each with the runtime of one partition, kept in a status. Pure.
//
// A part is asked for under an id that stands in the status, and what is said to have succeeded is
// never asked for again. A sync is divided by the runtime of the first part. Its parts keep their
// runtimes, however often these restart or move; when nothing goes on but parts of runtimes that
// do not come back, what is left is divided anew among those that are there (divide_again), and
// what was given up is remembered until it has been cancelled (`left`).

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/shared.h"
#include "base/clock.h"
#include "controllers/shared_sync/tally.h"
#include "runtime/protocol.h"

namespace paddle::controllers::shared_sync {

using Parts = std::vector<api::JobPartition>;

// A part waits this long for its runtime, or for the first one to say what it is, before it is
// given to others.
inline constexpr std::chrono::seconds kPatience{60};

// A runtime of the set that runs, and what it knows of its part.
struct Answer {
  int partition = 0;
  std::string node{};
  std::string error{};                      // why it could not be asked
  std::optional<runtime::JobReport> job{};  // nothing: never heard of it, or could not be asked
  bool operator==(const Answer&) const = default;
};
const Answer* answer_of(const std::vector<Answer>& answers, int partition);
bool is_there(const std::vector<Answer>& answers, int partition);

// One for each of these partitions, in this order, none of them asked for yet.
Parts begin_as(const std::string& id, const std::vector<int>& partitions);
// The first, which divides, and of `count` partitions those that are there.
std::vector<int> who_shares(const std::vector<Answer>& answers, int count);

// What the runtimes say goes into the parts that have not ended; `give` is called for each whose
// runtime has not heard of it. Parts of partitions that the set no longer has stay as they are.
void follow(const std::vector<Answer>& answers, int partitions, WallTime now, Parts& parts,
            const std::function<void(const api::JobPartition&)>& give);

bool all_succeeded(const Parts& parts);  // and there is one
// Why what is left of a shared sync has to be divided anew; empty: it need not.
std::string why_again(const Parts& parts, int partitions, WallTime now);
// The division after that of this id: "<id>.1", "<id>.2".
std::string after(const std::string& id);
// The parts are another division's from now on; those of the old that have not ended are left.
void divide_again(const std::string& id, const std::vector<int>& partitions, Parts& parts,
                  Parts& left);
// Cancels what was left where its runtime can be told, and forgets it.
void cancel_left(const std::vector<Answer>& answers, int partitions, Parts& left,
                 const std::function<void(const api::JobPartition&)>& cancel);

// Says in `request`, which is for the whole sync, which part of it this is.
void make_part(const api::JobPartition& part, const Parts& parts, const std::string& lists_at,
               runtime::JobRequest& request);

}  // namespace paddle::controllers::shared_sync
