// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/node_engine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/juicefs/manifests.h"
#include "engine/juicefs/node/command/juicefs_output.h"
#include "engine/juicefs/node/command/set_path.h"
#include "engine/juicefs/node/lists/file_list.h"
#include "engine/juicefs/node/lists/list_fetch.h"
#include "engine/juicefs/node/lists/old_paths.h"
#include "engine/juicefs/node/plan/leftovers.h"
#include "engine/juicefs/node/plan/path_list.h"
#include "engine/juicefs/node/plan/work_progress.h"
#include "engine/juicefs/node/sync/sync_pacer.h"
#include "engine/juicefs/node/sync/sync_run.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::uint16_t kThreads = 50;
// Between the clocks of the operator and of the nodes that write files.
constexpr std::chrono::minutes kClockSkew{5};

std::uint16_t threads_of(const Selection& which) {
  return static_cast<std::uint16_t>(which.threads > 0 ? std::min(which.threads, 1000) : kThreads);
}

// As the client names them.
std::vector<std::string> from_root(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  all.reserve(paths.size());
  for (const auto& path : paths) all.push_back("/" + path);
  return all;
}

double errors_of_store(const Control& control) {
  const auto stats = control.stats();
  return stats ? metric_value(*stats, "juicefs_object_request_errors").value_or(0) : 0;
}

// The times of files are those of the clocks of the nodes that wrote them, and the time of the
// removal is the operator's. A removal that removed nothing would otherwise be a success.
Error all_younger(std::int64_t files) {
  return {Code::kInvalid,
          "nothing was removed: all " + std::to_string(files) +
              " files are newer than the removal; if they are not, the clocks of the nodes and of "
              "the operator differ: correct them, and create the job again"};
}

}  // namespace

Result<std::unique_ptr<JuicefsNodeEngine>> JuicefsNodeEngine::open(const NodeOptions& options) {
  TRY(ListStore lists, ListStore::open(options.state + "/lists"));
  std::unique_ptr<JuicefsNodeEngine> engine(new JuicefsNodeEngine(options, std::move(lists)));
  engine->usage_.set_part(std::make_shared<const std::vector<std::string>>(
      from_root(from_text(engine->lists_.part()))));
  return engine;
}

Result<> JuicefsNodeEngine::run(const JobRequest& job, const ProgressSink& report,
                                std::stop_token stop) {
  switch (job.kind) {
    case api::JobKind::kSync:
      return sync(job.sync, report, std::move(stop));
    case api::JobKind::kWarmup:
      return warm_up(job.which, report, std::move(stop));
    case api::JobKind::kRemove:
      return remove(job.which, report, std::move(stop));
    case api::JobKind::kClear:
      return clear(job.which, report, std::move(stop));
    case api::JobKind::kVerify:
      return Error{Code::kInvalid, kNoVerification};
  }
  return Error{Code::kInternal, "not a kind of job"};
}

Result<> JuicefsNodeEngine::sync(const SyncTask& task, const ProgressSink& report,
                                 std::stop_token stop) {
  if (task.counts) return Done{};
  const std::string source = task.source.empty() ? options_.source : task.source;
  if (source.empty()) {
    return Error{Code::kInvalid,
                 "the set has no source to sync from; give one in spec.source.uri or in the "
                 "options of the sync"};
  }
  const SyncPacer pacer([control = control_] {
    const auto stats = control.stats();
    return stats ? metric_value(*stats, "juicefs_blockcache_miss_bytes").value_or(-1) : -1;
  });
  auto done = sync_from({.program = options_.program,
                         .home = options_.state,
                         .source = source,
                         .source_secret = options_.source_secret,
                         .volume_secret = options_.volume_secret,
                         .sub_dir = options_.sub_dir,
                         .may_run = [&] { return pacer.runs_now(); }},
                        task, report, stop);
  usage_.refresh_soon();
  return done;
}

Result<> JuicefsNodeEngine::sync_from(const SyncContext& context, const SyncTask& task,
                                      const ProgressSink& report, const std::stop_token& stop) {
  const auto held = lists_.hold(task.job);
  const bool cut_short = lists_.begin_sync();
  const WallTime began = system_clock().wall();
  SyncPart part{.pieces = {{}}};
  if (task.parts > 1) {
    TRY(part, part_of_sync(context, task, lists_, options_.fetch, report, stop));
    CHECK_DONE(run_part(context, task, part, lists_, report, stop));
  } else {
    TRY(const std::int64_t planned, planned_bytes(context, task, report, stop));
    CHECK_DONE(run_sync(context, task, planned, report, stop));
  }
  if (cut_short) {
    // Other runtimes may still write theirs.
    const std::string before = task.destination.empty() ? "" : task.destination + "/";
    remove_leftovers(
        began,
        [&](const std::string& path) {
          const std::string file = file_of_leftover(path);
          if (task.parts <= 1) return true;
          if (!file.starts_with(before)) return false;
          return std::ranges::any_of(part.pieces, [&](const KeyRange& piece) {
            return within(piece, file.substr(before.size()));
          });
        },
        stop);
  }
  lists_.end_sync();
  return Done{};
}

// No process of ours writes to them: the one that did ended before this sync began.
void JuicefsNodeEngine::remove_leftovers(WallTime before,
                                         const std::function<bool(const std::string&)>& ours,
                                         const std::stop_token& stop) const {
  const auto leftovers = list_leftovers(options_.data, before, stop);
  if (!leftovers) {
    return log::warn("cannot list the leftovers of a killed sync",
                     {{"reason", leftovers.error().message}});
  }
  std::int64_t files = 0;
  for (const auto& path : *leftovers) {
    if (!ours(path)) continue;
    ++files;
    if (auto removed = control_.remove(path, /*skip_trash=*/true, {}, stop); !removed) {
      log::warn("cannot remove a leftover of a killed sync", {{"reason", removed.error().message}});
    }
  }
  if (files > 0) log::info("removed the leftovers of a killed sync", {{"files", files}});
}

Result<std::string> JuicefsNodeEngine::list_for(const std::string& job, std::int32_t partition) {
  return lists_.read(job, partition);
}

Result<std::vector<std::string>> JuicefsNodeEngine::derive(const Selection& which,
                                                           const ProgressSink& report,
                                                           const std::stop_token& stop) {
  const auto found = [&](std::size_t files) {
    report({.files_total = static_cast<std::int64_t>(files)});
  };
  return list_files(options_.data, which, found, stop);
}

Result<> JuicefsNodeEngine::make_lists(const Selection& which, const ProgressSink& report,
                                       const std::stop_token& stop) {
  TRY(const std::vector<std::string> files, derive(which, report, stop));
  for (std::int32_t i = 0; i < std::max(which.partitions, 1); ++i) {
    CHECK_DONE(lists_.write(which.job, i, to_text(part_of_list(files, which, i))));
  }
  return lists_.finish(which.job);
}

// The first partition's runtime makes all lists, once; the others fetch theirs (list_fetch.h).
Result<std::vector<std::string>> JuicefsNodeEngine::part_for(const Selection& which,
                                                             const ProgressSink& report,
                                                             const std::stop_token& stop) {
  const bool asks = which.partition != 0 && !which.lists_at.empty() && options_.fetch;
  if (asks) {
    const ListRequest request{
        .address = which.lists_at, .job = which.job, .partition = which.partition};
    TRY(const auto list, fetch_list(options_.fetch, request, system_clock(), stop));
    if (list) return from_text(*list);
    log::info("the first runtime has no list; it is made here", {{"job", which.job}});
  }
  if (which.job.empty() || asks) {
    TRY(const std::vector<std::string> files, derive(which, report, stop));
    return part_of_list(files, which, which.partition);
  }
  if (!lists_.whole(which.job)) CHECK_DONE(make_lists(which, report, stop));
  TRY(const std::string text, lists_.read(which.job, which.partition));
  return from_text(text);
}

Result<CacheUsage> JuicefsNodeEngine::check(const std::vector<std::string>& paths,
                                            std::uint16_t threads,
                                            const std::stop_token& stop) const {
  return control_.cache(CacheAction::kCheck, paths, threads, {}, stop);
}

// A client skips what it cannot find and counts what it has found. A line of a list may also be a
// directory, which counts as the files in it.
Result<> JuicefsNodeEngine::expect_listed(const Selection& which,
                                          const std::vector<std::string>& files,
                                          const CacheUsage& seen,
                                          const std::stop_token& stop) const {
  if (which.file.empty() || seen.files >= static_cast<std::int64_t>(files.size())) return Done{};
  TRY(const Presence there, count_present(options_.data, files, stop));
  if (there.absent == 0) return Done{};
  return Error{Code::kNotFound, "the list '" + which.file + "' names '" +
                                    there.first_absent.substr(0, 200) +
                                    "', which is not in the set (" + std::to_string(there.absent) +
                                    " such lines); each line must be the path of a file from "
                                    "the root of the set, and nothing else"};
}

Result<> JuicefsNodeEngine::expect_found(const std::vector<std::string>& files,
                                         std::uint16_t threads, CacheUsage& seen,
                                         const std::stop_token& stop) const {
  if (seen.files >= static_cast<std::int64_t>(files.size())) return Done{};
  TRY(const Presence there, count_present(options_.data, files, stop));
  if (seen.files >= there.files) return Done{};  // the others do not exist, or are not files
  TRY(seen, check(from_root(files), threads, stop));
  if (seen.files >= there.files) return Done{};
  TRY(const std::int64_t left, count_listed(options_.data, files, stop));
  if (seen.files >= left) return Done{};  // the others were removed meanwhile
  return Error{Code::kUnavailable,
               "JuiceFS finds only " + std::to_string(seen.files) + " of " + std::to_string(left) +
                   " files that are to be brought into the cache; see the log of the JuiceFS "
                   "mount pod on this node"};
}

Result<> JuicefsNodeEngine::warm_up(const Selection& which, const ProgressSink& report,
                                    std::stop_token stop) {
  const auto held = lists_.hold(which.job);
  TRY(const std::vector<std::string> files, part_for(which, report, stop));
  const auto shared = std::make_shared<const std::vector<std::string>>(from_root(files));
  const std::vector<std::string>& paths = *shared;
  const std::uint16_t threads = threads_of(which);

  // How much is missing: little for a warm-up that is run again.
  TRY(CacheUsage now, check(paths, threads, stop));
  CHECK_DONE(expect_listed(which, files, now, stop));
  CHECK_DONE(lists_.write_part(to_text(files)));
  usage_.set_part(shared);
  usage_.set_part_usage(now);
  Progress progress{.files_total = static_cast<std::int64_t>(paths.size()),
                    .bytes_total = now.bytes,
                    .bytes_done = now.bytes - now.missing};
  report(progress);
  auto result = now.missing > 0 ? RoundResult::kRepeat : RoundResult::kComplete;
  TransferRate rate(system_clock());
  for (int round = 1; result == RoundResult::kRepeat; ++round) {
    const double errors = errors_of_store(control_);
    const auto on_progress = [&](std::int64_t done, std::int64_t bytes) {
      progress.files_done = std::min(done, progress.files_total);
      progress.bytes_done = std::min(bytes, progress.bytes_total);
      rate.update(progress);
      report(progress);
    };
    usage_.set_filling(true);
    const auto filled = control_.cache(CacheAction::kWarmUp, paths, threads, on_progress, stop);
    usage_.set_filling(false);
    if (!filled) return filled.error();
    TRY(now, check(paths, threads, stop));
    result = after_round(now.missing, errors_of_store(control_) - errors, round);
  }
  const bool failed = result == RoundResult::kFailed;
  CHECK_DONE(expect_found(files, threads, now, stop));
  usage_.set_part_usage(now);
  usage_.refresh_soon();

  progress.bytes_total = now.bytes;
  progress.bytes_done = now.bytes - now.missing;
  progress.seconds_left.reset();
  // JuiceFS reports bytes, not files: estimate their number from the average size.
  const std::int64_t left =
      now.bytes == 0 ? 0 : (now.missing * progress.files_total + now.bytes - 1) / now.bytes;
  progress.files_done = progress.files_total - left;
  (failed ? progress.files_failed : progress.files_no_room) = left;
  report(progress);
  if (!failed) return Done{};
  return Error{Code::kUnavailable,
               std::to_string(now.missing) + " of " + std::to_string(now.bytes) +
                   " bytes could not be brought into the cache, and the volume's storage had "
                   "errors meanwhile; see the log of the JuiceFS mount pod on this node"};
}

Result<> JuicefsNodeEngine::clear(const Selection& which, const ProgressSink& report,
                                  std::stop_token stop) {
  std::vector<std::string> paths;
  for (const auto& given : which.paths) {
    TRY(const std::string path, path_in_set(given));
    struct stat seen {};
    if (::lstat((options_.data + "/" + path).c_str(), &seen) != 0 && errno == ENOENT) {
      return Error{Code::kNotFound, "the set has no '" + path + "'; correct the path"};
    }
    paths.push_back("/" + path);
  }
  if (!which.file.empty()) {
    TRY(const std::vector<std::string> files, derive(which, report, stop));
    for (const auto& path : from_root(files)) paths.push_back(path);
  } else if (paths.empty()) {
    paths.emplace_back("/");
  }
  const auto on_progress = [&](std::int64_t files, std::int64_t bytes) {
    report({.files_done = files, .bytes_done = bytes});
  };
  auto cleared = control_.cache(CacheAction::kEvict, paths, threads_of(which), on_progress, stop);
  usage_.refresh_counts();
  if (!cleared) return std::move(cleared).error();
  report({.files_total = cleared->files,
          .files_done = cleared->files,
          .bytes_total = cleared->bytes,
          .bytes_done = cleared->bytes});
  return Done{};
}

Result<JuicefsNodeEngine::RemovedFiles> JuicefsNodeEngine::remove_one(
    const std::string& path, const Selection& which, const Control::Sink& report,
    const std::stop_token& stop) const {
  // No sync runs beside or before it that was accepted later, so what is here now is to go, also if
  // the clock of a writer is somewhat ahead. A removal that is run again cannot know what came
  // after its first run, and leaves everything newer.
  const WallTime limit =
      removal_limit(which.accepted) + (which.again ? std::chrono::minutes{0} : kClockSkew);
  OldPaths old{.paths = {path}};
  // Usually the removal was accepted just now, and no file can be newer.
  if (which.accepted > 0 && system_clock().wall() > limit) {
    TRY(old, paths_older_than(options_.data, path, limit, stop));
  }
  if (old.younger > 0) {
    log::info("a removal leaves newer files", {{"path", path}, {"files", old.younger}});
  }
  RemovedFiles sum{.younger = old.younger};
  for (const auto& each : old.paths) {
    std::int64_t count = 0;
    const auto counting = [&](std::int64_t files, std::int64_t bytes) {
      count = files;
      report(sum.files + files, bytes);
    };
    auto removed = control_.remove(each, which.skip_trash, counting, stop);
    if (removed.is(Code::kNotFound) && old.younger > 0) continue;  // gone meanwhile
    if (!removed) return std::move(removed).error();
    sum.files += count;
  }
  return sum;
}

Result<> JuicefsNodeEngine::remove(const Selection& which, const ProgressSink& report,
                                   std::stop_token stop) {
  if (which.paths.empty()) {
    return Error{Code::kInvalid, "name the paths of the set to remove"};
  }
  std::int64_t before = 0;
  std::int64_t younger = 0;
  std::optional<Error> missing;
  bool removed_one = false;
  for (const auto& given : which.paths) {
    TRY(const std::string path, path_in_set(given));
    if (path.empty()) {
      return Error{Code::kInvalid,
                   "the root of the set cannot be removed; name paths beneath it, or delete "
                   "the SampleSet"};
    }
    const auto on_progress = [&](std::int64_t files, std::int64_t) {
      report({.files_done = before + files});
    };
    auto removed = remove_one(path, which, on_progress, stop);
    if (removed.is(Code::kNotFound)) {
      missing = Error{Code::kNotFound, "the set has no '" + path + "'; correct the path"};
      continue;
    }
    if (!removed) {
      usage_.refresh_soon();
      return std::move(removed).error();
    }
    removed_one = true;
    before += removed->files;
    younger += removed->younger;
  }
  usage_.refresh_soon();
  // An interrupted earlier run may have removed some of the paths, or all.
  if (!removed_one && missing && !which.again) return *missing;
  if (younger > 0 && before == 0 && !which.again) return all_younger(younger);
  report({.files_total = before, .files_done = before, .left_out = {.count = younger}});
  return Done{};
}

}  // namespace paddle::engine::juicefs
