// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/shared_sync.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {
namespace {

// Unique among all divisions of all runtimes.
std::string new_cut() {
  return "cut-" + std::to_string(system_clock().wall().time_since_epoch().count());
}

Result<> divide_sync(const SyncContext& context, const SyncTask& task, const ListStore& lists,
                     const ProgressSink& report, const std::stop_token& stop) {
  // Before any part copies: a file that is being written would count as missing at the source.
  if (task.delete_destination) CHECK_DONE(delete_extra(context, task, stop));
  TRY(const SyncList list, list_sync(context, task, report, stop));
  Division how{.parts = task.parts,
               .all = {task.start, task.end},
               .megabits = task.megabits,
               .in_pieces = task.force_update,
               .cut = new_cut()};
  auto parts = divide(list.files, how);
  if (parts[0].pieces.empty() && list.unnamed > 0) {
    parts[0].pieces.push_back(how.all);
    parts[0].files = list.unnamed;
    parts[0].megabits = task.megabits;
  }
  log::info(
      "divided a sync",
      {{"job", task.job}, {"parts", task.parts}, {"files", list.files.files() + list.unnamed}});
  for (std::int32_t i = 0; i < task.parts; ++i) {
    CHECK_DONE(lists.write(task.job, i, to_text(parts[static_cast<std::size_t>(i)])));
  }
  return lists.finish(task.job);
}

Result<std::string> fetch_part(const SyncTask& task, const ListFetcher& fetch,
                               const std::stop_token& stop) {
  if (task.lists_at.empty() || !fetch) {
    return Error{Code::kInvalid, "a part of a sync needs the address of the first runtime"};
  }
  for (int attempt = 1;; ++attempt) {
    auto list = fetch(task.lists_at, task.job, task.part, stop);
    if (list || list.is(Code::kCancelled)) return list;
    const auto pause = backoff(kPartFirstPause, attempt, kPartLongestPause);
    if (!system_clock().sleep(pause, stop)) return Error{Code::kCancelled, "stopped"};
  }
}

}  // namespace

Result<SyncPart> part_of_sync(const SyncContext& context, const SyncTask& task,
                              const ListStore& lists, const ListFetcher& fetch,
                              const ProgressSink& report, std::stop_token stop) {
  if (!lists.whole(task.job)) {
    if (task.part == 0) {
      CHECK_DONE(divide_sync(context, task, lists, report, stop));
    } else {
      TRY(const std::string text, fetch_part(task, fetch, stop));
      CHECK_DONE(parse_part(text));
      CHECK_DONE(lists.write(task.job, task.part, text));
      CHECK_DONE(lists.finish(task.job));
    }
  }
  TRY(const std::string text, lists.read(task.job, task.part));
  return parse_part(text);
}

Result<> run_part(const SyncContext& context, const SyncTask& task, const SyncPart& part,
                  const ListStore& lists, const ProgressSink& report, std::stop_token stop) {
  SyncTask mine = task;
  mine.delete_destination = false;
  mine.megabits = part.megabits;
  Progress sum;   // of the finished pieces
  Progress last;  // of the current piece
  Progress all{.files_total = part.files, .bytes_total = part.bytes, .cut = part.cut};
  report(all);
  for (std::size_t i = lists.done(task.job); i < part.pieces.size(); ++i) {
    mine.start = part.pieces[i].start;
    mine.end = part.pieces[i].end;
    const auto on_progress = [&](const Progress& now) {
      all = last = now;
      all.cut = part.cut;
      all.files_total = std::max(sum.files_total + now.files_total, part.files);
      all.files_done += sum.files_done;
      all.bytes_done += sum.bytes_done;
      all.bytes_total = std::max(all.bytes_done, part.bytes);
      report(all);
    };
    const std::int64_t planned = std::max<std::int64_t>(part.bytes - sum.bytes_done, 0);
    CHECK_DONE(run_sync(context, mine, planned, on_progress, stop));
    sum.files_total += last.files_total;
    sum.files_done += last.files_done;
    sum.bytes_done += last.bytes_done;
    lists.note_done(task.job, i + 1);
  }
  // What an earlier run copied counts as done; and JuiceFS prints rounded numbers.
  const bool as_planned = all.files_done <= part.files;
  all.bytes_total = all.bytes_done = as_planned ? part.bytes : std::max(all.bytes_done, part.bytes);
  all.files_total = all.files_done = std::max(all.files_done, part.files);
  all.bytes_per_second = 0;
  all.seconds_left.reset();
  report(all);
  return Done{};
}

}  // namespace paddle::engine::juicefs
