// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/sync_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/node/command/juicefs_output.h"
#include "engine/juicefs/node/command/source_access.h"
#include "engine/juicefs/node/command/sync_command.h"
#include "engine/juicefs/node/plan/work_progress.h"
#include "engine/juicefs/node/secret_files.h"
#include "engine/juicefs/node/sync/juicefs_process.h"
#include "engine/time_limits.h"
#include "net/http_client.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::chrono::milliseconds kReportInterval{1'000};
constexpr std::chrono::milliseconds kMetricsLimit{2'000};
constexpr std::size_t kLongestLine = 64UL * 1024;
constexpr std::size_t kFilesPerReport = 10'000;
constexpr std::int64_t kMostPlannedFiles = 200'000;

// Splits the output of a program into lines.
class LineSplitter {
 public:
  template <typename Take>
  void add(std::string_view piece, Take&& take) {
    pending_.append(piece);
    std::size_t from = 0;
    for (std::size_t end; (end = pending_.find('\n', from)) != pending_.npos; from = end + 1) {
      take(std::string_view(pending_).substr(from, end - from));
    }
    pending_.erase(0, from);
    if (pending_.size() > kLongestLine) pending_.clear();
  }

 private:
  std::string pending_{};
};

// Reports the progress of a sync from its metrics.
class MetricsFollower {
 public:
  MetricsFollower(std::int64_t planned, const ProgressSink& report, std::stop_token stop)
      : planned_(planned), report_(report), stop_(std::move(stop)) {}

  // `held`: the program is stopped and cannot answer.
  void on_output(std::string_view piece, bool held) {
    printed_ += static_cast<std::int64_t>(piece.size());
    if (!address_) {
      // JuiceFS may never print the address: only the end of what it has printed is kept.
      log_.append(piece);
      address_ = metrics_address(log_);
      if (log_.size() > kLongestLine) log_.erase(0, log_.size() - kLongestLine / 2);
    }
    if (!address_ || held || system_clock().boot() < next_) return;
    const auto reply = http_.send({.url = "http://" + *address_ + "/metrics"},
                                  {.timeout = kMetricsLimit, .stop = stop_});
    next_ = system_clock().boot() + kReportInterval;
    if (!reply || reply->status != 200) return;
    progress_ = sync_progress(reply->body);
    progress_.bytes_total = planned_;
    rate_.update(progress_);
    report_(progress_);
  }

  Progress last() const { return progress_; }
  // Changes whenever the program has done or printed something.
  std::int64_t activity() const {
    return printed_ + progress_.files_total + progress_.files_done + progress_.files_failed +
           progress_.bytes_done;
  }

 private:
  const std::int64_t planned_;
  const ProgressSink& report_;
  const std::stop_token stop_;
  net::HttpClient http_{{.proxy = ""}};
  std::string log_{};
  std::optional<std::string> address_{};
  BootTime next_{};
  std::int64_t printed_ = 0;
  Progress progress_{};
  TransferRate rate_{system_clock()};
};

// A command that is ready to run, and the secrets that must not be shown.
struct Prepared {
  CommandLine command{};
  std::vector<std::string> secrets{};
};

Result<Prepared> prepare(const SyncContext& context, const SyncTask& task, SyncAction action) {
  TRY(const SecretValues volume, read_secret(context.volume_secret));
  SecretValues keys = task.keys.values;
  const bool own = keys.empty();
  if (own) {
    TRY(keys, read_secret(context.source_secret));
  }
  auto url = read_metadata_url(value_of(volume, "metaurl"), {});
  if (!url || value_of(volume, "metaurl").empty()) {
    return Error{Code::kInvalid, "the volume's Secret has no valid metaurl"};
  }
  TRY(const SourceAccess access, source_access(context.source, keys));
  Prepared made;
  TRY(made.command.argv, sync_arguments(access, task, context.sub_dir, action));
  made.command.argv.insert(made.command.argv.begin(), context.program);

  std::vector<std::string>& env = made.command.env;
  env = access.env;
  env.push_back("PATH=/usr/bin:/bin");
  env.push_back("HOME=" + context.home);
  env.push_back(std::string(kVolumeVariable) + "=" + url->whole);
  if (const auto phrase = value_of(volume, "passphrase"); !phrase.empty()) {
    env.push_back("JFS_RSA_PASSPHRASE=" + phrase);
  }
  if (own && keys.contains("ca.crt"))
    env.push_back("SSL_CERT_FILE=" + context.source_secret + "/ca.crt");

  made.secrets = secrets_of(volume);
  for (auto& each : secrets_of(keys)) made.secrets.push_back(std::move(each));
  made.secrets.push_back(url->password);
  return made;
}

// Runs the command. An error for every result but success, and for a program that stands still.
Result<os::CompletedProcess> execute(
    const SyncContext& context, const Prepared& made, MetricsFollower& follower,
    const std::function<void(std::string_view)>& on_output, std::stop_token stop,
    const std::function<void(const os::CompletedProcess&)>& ended) {
  // Only the end of the output is kept, so each line is examined as it arrives.
  std::optional<std::string> skipped;
  LineSplitter lines;
  ProgressWatch watch(kSyncStandstill);
  std::stop_source hangs;
  const std::stop_callback forward(stop, [&] { hangs.request_stop(); });
  const auto listen = [&](std::string_view piece) {
    lines.add(piece, [&](std::string_view line) {
      if (!skipped) skipped = left_out(line, made.secrets);
    });
    if (on_output) on_output(piece);
    follower.on_output(piece, context.may_run && !context.may_run());
    if (watch.stands_still(follower.activity(), system_clock().boot())) hangs.request_stop();
  };
  auto run = run_juicefs(made.command, hangs.get_token(),
                         {.background = true, .on_output = listen, .may_run = context.may_run});
  if (run.is(Code::kCancelled) && !stop.stop_requested()) {
    return Error{Code::kUnavailable,
                 "juicefs sync from '" + context.source + "' made no progress for " +
                     std::to_string(kSyncStandstill.count()) +
                     " minutes and was ended; check that the source and the volume's storage "
                     "answer"};
  }
  TRY(os::CompletedProcess end, std::move(run));
  if (ended) ended(end);
  if (skipped && end.exit_code == 0) {
    return Error{Code::kForbidden, "the source denies access to an object: " + *skipped +
                                       "; allow the user of its Secret to read it"};
  }
  if (end.exit_code == 0) return end;
  const std::string why = failure_reason(end.out, made.secrets);
  log::warn("juicefs sync ended", {{"exit", end.exit_code}, {"reason", why}});
  if (why.find("invalid storage: ") != why.npos) {
    return Error{Code::kInvalid,
                 "the juicefs program of this image was built without the storage "
                 "of '" +
                     context.source + "'; use an image whose juicefs has it"};
  }
  return Error{Code::kUnavailable, "juicefs sync from '" + context.source + "' failed: " + why};
}

}  // namespace

Result<> run_sync(const SyncContext& context, const SyncTask& task, std::int64_t planned,
                  const ProgressSink& report, std::stop_token stop) {
  TRY(const Prepared made, prepare(context, task, SyncAction::kCopy));
  MetricsFollower follower(planned, report, stop);
  const auto ended = [&](const os::CompletedProcess& end) {
    Progress progress = sync_outcome(end.out).value_or(follower.last());
    progress.bytes_done = std::max(progress.bytes_done, follower.last().bytes_done);
    progress.bytes_total = std::max(progress.bytes_done, planned);
    report(progress);
  };
  CHECK_DONE(execute(context, made, follower, {}, stop, ended));
  return Done{};
}

Result<SyncList> list_sync(const SyncContext& context, const SyncTask& task,
                           const ProgressSink& report, std::stop_token stop) {
  TRY(const Prepared made, prepare(context, task, SyncAction::kList));
  SyncList list;
  LineSplitter lines;
  std::int64_t reported = 0;
  const auto on_output = [&](std::string_view piece) {
    lines.add(piece, [&](std::string_view line) {
      if (const auto found = to_copy(line)) list.files.add(*found);
    });
    if (list.files.files() < reported + static_cast<std::int64_t>(kFilesPerReport)) return;
    reported = list.files.files();
    report({.files_total = reported});
  };
  const ProgressSink nothing = [](const Progress&) {};
  MetricsFollower follower(0, nothing, stop);
  TRY(const os::CompletedProcess end, execute(context, made, follower, on_output, stop, {}));
  list.unnamed = copied_files(end.out).value_or(0) - list.files.files();
  return list;
}

Result<std::int64_t> planned_bytes(const SyncContext& context, const SyncTask& task,
                                   const ProgressSink& report, std::stop_token stop) {
  if (task.dry || task.delete_source) return std::int64_t{0};
  // Only the bar of a progress needs it: a large source is not listed twice for that.
  std::stop_source enough;
  const std::stop_callback forward(stop, [&] { enough.request_stop(); });
  const auto count = [&](const Progress& progress) {
    report(progress);
    if (progress.files_total >= kMostPlannedFiles) enough.request_stop();
  };
  auto listed = list_sync(context, task, count, enough.get_token());
  if (listed.is(Code::kCancelled) && !stop.stop_requested()) return std::int64_t{0};
  TRY(const SyncList list, std::move(listed));
  std::int64_t bytes = 0;
  for (const CopyList::Group& group : list.files.groups()) bytes += group.bytes;
  return bytes;
}

Result<> delete_extra(const SyncContext& context, const SyncTask& task, std::stop_token stop) {
  TRY(const Prepared made, prepare(context, task, SyncAction::kDelete));
  const ProgressSink nothing = [](const Progress&) {};
  MetricsFollower follower(0, nothing, stop);
  CHECK_DONE(execute(context, made, follower, {}, stop, {}));
  return Done{};
}

}  // namespace paddle::engine::juicefs
