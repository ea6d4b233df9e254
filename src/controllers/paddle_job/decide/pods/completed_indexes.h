// SPDX-License-Identifier: Apache-2.0
//
// The pods of the current epoch that have succeeded, as the status stores them: completedIndexes of
// each replica group, "0-3,7". Pure.
//
// A pod that has succeeded may be deleted at any time: by a user, with its node, by the garbage
// collector. Its work stays done until the job restarts: the next epoch begins with an empty list.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

struct CompletedIndexes {
  std::int64_t epoch = 0;
  std::map<std::string, std::string> groups{};  // by name; only those with any
  bool operator==(const CompletedIndexes&) const = default;
};
CompletedIndexes completed_indexes_of(const api::PaddleJobStatus& status);
void clear_completed_indexes(api::PaddleJobStatus& status);

// {true, true, false, true} <-> "0-1,3". parse_indexes ignores everything but indexes below
// `count`.
std::string format_indexes(const std::vector<bool>& which);
std::vector<bool> parse_indexes(std::string_view text, int count);

}  // namespace paddle::controllers::paddle_job
