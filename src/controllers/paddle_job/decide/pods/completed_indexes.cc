// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/pods/completed_indexes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {
namespace {

std::optional<int> index_in(std::string_view text) {
  int index = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, index);
  if (read.ec != std::errc{} || read.ptr != end || index < 0) return std::nullopt;
  return index;
}

// "4" or "4-7".
void mark(std::string_view range, std::vector<bool>& which) {
  const size_t dash = range.find('-');
  const auto first = index_in(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : index_in(range.substr(dash + 1));
  if (!first || !last) return;
  const int end = std::min(*last, static_cast<int>(which.size()) - 1);
  for (int i = *first; i <= end; ++i) which[static_cast<size_t>(i)] = true;
}

}  // namespace

CompletedIndexes completed_indexes_of(const api::PaddleJobStatus& status) {
  CompletedIndexes found{.epoch = status.epoch};
  const auto add = [&](const std::string& group, const api::RoleStatus& role) {
    if (!role.completed_indexes.empty()) found.groups[group] = role.completed_indexes;
  };
  if (status.ps) add(to_string(RoleKind::kPs), *status.ps);
  if (status.worker) add(to_string(RoleKind::kWorker), *status.worker);
  if (status.heter) add(to_string(RoleKind::kHeter), *status.heter);
  for (const auto& [name, task] : status.tasks) add(name, task);
  return found;
}

void clear_completed_indexes(api::PaddleJobStatus& status) {
  for (const RoleKind role : kRoles) {
    if (auto& counters = role_status(status, role)) counters->completed_indexes.clear();
  }
  for (auto& [name, task] : status.tasks) task.completed_indexes.clear();
}

std::string format_indexes(const std::vector<bool>& which) {
  std::string text;
  for (size_t i = 0; i < which.size(); ++i) {
    if (!which[i]) continue;
    const size_t first = i;
    while (i + 1 < which.size() && which[i + 1]) ++i;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (i > first) text += "-" + std::to_string(i);
  }
  return text;
}

std::vector<bool> parse_indexes(std::string_view text, int count) {
  std::vector<bool> which(static_cast<size_t>(std::max(count, 0)));
  while (!text.empty()) {
    const size_t comma = text.find(',');
    mark(text.substr(0, comma), which);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return which;
}

}  // namespace paddle::controllers::paddle_job
