// SPDX-License-Identifier: Apache-2.0
//
// Which pods of a run have succeeded, as the status says it: completedIndexes of each part,
// "0-3,7". Pure.
//
// A pod that has succeeded may go at any time: deleted by hand, drained with its node, collected.
// Its work is done all the same, until the job is restarted: the next epoch begins without it.

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
  std::map<std::string, std::string> groups{};  // name of the part -> indexes; only those with any
  bool operator==(const CompletedIndexes&) const = default;
};
CompletedIndexes completed_indexes_of(const api::PaddleJobStatus& status);
void clear_completed_indexes(api::PaddleJobStatus& status);

// {true, true, false, true} <-> "0-1,3". What is no index below `count` is passed over.
std::string format_indexes(const std::vector<bool>& which);
std::vector<bool> parse_indexes(std::string_view text, int count);

}  // namespace paddle::controllers::paddle_job
