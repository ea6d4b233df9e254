// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/node/child.h"
#include "engine/juicefs/node/rate.h"
#include "engine/juicefs/node/said.h"
#include "engine/juicefs/node/secret_files.h"
#include "engine/juicefs/node/source_access.h"
#include "engine/juicefs/node/sync_command.h"
#include "net/http_client.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::chrono::milliseconds kTellEvery{1'000};
constexpr std::chrono::milliseconds kMetricsLimit{2'000};
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kTellListEvery = 10'000;

// Gives what a program says on line by line.
class Lines {
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

// Follows a sync through its metrics.
class Follower {
 public:
  Follower(std::int64_t planned, const ProgressSink& tell, std::stop_token stop)
      : planned_(planned), tell_(tell), stop_(std::move(stop)) {}

  // `held`: it can not answer now.
  void heard(std::string_view piece, bool held) {
    if (!address_) {
      log_.append(piece);
      address_ = metrics_address(log_);
    }
    if (!address_ || held || system_clock().boot() < next_) return;
    const auto reply = http_.send({.url = "http://" + *address_ + "/metrics"},
                                  {.timeout = kMetricsLimit, .stop = stop_});
    next_ = system_clock().boot() + kTellEvery;
    if (!reply || reply->status != 200) return;
    progress_ = sync_progress(reply->body);
    progress_.bytes_total = planned_;
    rate_.update(progress_);
    tell_(progress_);
  }

  Progress last() const { return progress_; }

 private:
  const std::int64_t planned_;
  const ProgressSink& tell_;
  const std::stop_token stop_;
  net::HttpClient http_{{.proxy = ""}};
  std::string log_{};
  std::optional<std::string> address_{};
  BootTime next_{};
  Progress progress_{};
  Rate rate_{system_clock()};
};

// A command that is ready to be run, and what must not be said of it.
struct Prepared {
  ChildCommand command{};
  std::vector<std::string> secrets{};
};

Result<Prepared> prepare(const SyncPlace& place, const SyncTask& task, SyncAction action) {
  TRY(const SecretValues volume, read_secret(place.volume_secret));
  SecretValues keys = task.keys.values;
  const bool own = keys.empty();
  if (own) {
    TRY(keys, read_secret(place.source_secret));
  }
  auto url = read_metadata_url(value_of(volume, "metaurl"), {});
  if (!url || value_of(volume, "metaurl").empty()) {
    return Error{Code::kInvalid, "the volume's Secret has no metaurl that can be used"};
  }
  TRY(const SourceAccess access, source_access(place.source, keys));
  Prepared made;
  TRY(made.command.argv, sync_arguments(access, task, place.sub_dir, action));
  made.command.argv.insert(made.command.argv.begin(), place.program);
  made.command.background = true;

  std::vector<std::string>& env = made.command.env;
  env = access.env;
  env.push_back("PATH=/usr/bin:/bin");
  env.push_back("HOME=" + place.home);
  env.push_back(std::string(kVolumeVariable) + "=" + url->whole);
  if (const auto phrase = value_of(volume, "passphrase"); !phrase.empty()) {
    env.push_back("JFS_RSA_PASSPHRASE=" + phrase);
  }
  if (own && keys.contains("ca.crt"))
    env.push_back("SSL_CERT_FILE=" + place.source_secret + "/ca.crt");

  made.secrets = secrets_of(volume);
  for (auto& each : secrets_of(keys)) made.secrets.push_back(std::move(each));
  made.secrets.push_back(url->password);
  return made;
}

// Runs it; `heard` is given all it says. An error for every end that is not a good one.
Result<ChildEnd> carry_out(const SyncPlace& place, const Prepared& made, const ChildListener& heard,
                           std::stop_token stop,
                           const std::function<void(const ChildEnd&)>& ended) {
  // Early lines are not kept to the end: looked at as they come.
  std::optional<std::string> kept_from_us;
  Lines lines;
  const auto listen = [&](std::string_view piece) {
    lines.add(piece, [&](std::string_view line) {
      if (!kept_from_us) kept_from_us = left_out(line, made.secrets);
    });
    if (heard) heard(piece);
  };
  TRY(ChildEnd end, run_child(made.command, std::move(stop), listen, place.may_run));
  if (ended) ended(end);
  if (kept_from_us && end.exit_code == 0) {
    return Error{Code::kForbidden, "the source keeps something from us: " + *kept_from_us +
                                       "; give the user of its Secret the right to read it"};
  }
  if (end.exit_code == 0) return end;
  const std::string why = last_words(end.said, made.secrets);
  log::warn("juicefs sync ended", {{"exit", end.exit_code}, {"reason", why}});
  if (why.find("invalid storage: ") != why.npos) {
    return Error{Code::kInvalid,
                 "the juicefs program of this image was built without the storage "
                 "of '" +
                     place.source + "'; use an image whose juicefs has it"};
  }
  return Error{Code::kUnavailable, "juicefs sync from '" + place.source + "' failed: " + why};
}

}  // namespace

Result<> run_sync(const SyncPlace& place, const SyncTask& task, std::int64_t planned,
                  const ProgressSink& tell, std::stop_token stop) {
  TRY(const Prepared made, prepare(place, task, SyncAction::kCopy));
  Follower follower(planned, tell, stop);
  const auto ended = [&](const ChildEnd& end) {
    Progress progress = sync_outcome(end.said).value_or(follower.last());
    progress.bytes_done = std::max(progress.bytes_done, follower.last().bytes_done);
    progress.bytes_total = std::max(progress.bytes_done, planned);
    tell(progress);
  };
  const auto heard = [&](std::string_view piece) {
    follower.heard(piece, place.may_run && !place.may_run());
  };
  CHECK_DONE(carry_out(place, made, heard, stop, ended));
  return Done{};
}

Result<SyncList> list_sync(const SyncPlace& place, const SyncTask& task, const ProgressSink& tell,
                           std::stop_token stop) {
  TRY(const Prepared made, prepare(place, task, SyncAction::kList));
  SyncList list;
  Lines lines;
  std::int64_t told = 0;
  const auto heard = [&](std::string_view piece) {
    lines.add(piece, [&](std::string_view line) {
      if (const auto found = to_copy(line)) list.files.add(*found);
    });
    if (list.files.files() < told + static_cast<std::int64_t>(kTellListEvery)) return;
    told = list.files.files();
    tell({.files_total = told});
  };
  TRY(const ChildEnd end, carry_out(place, made, heard, std::move(stop), {}));
  list.unnamed = copied_files(end.said).value_or(0) - list.files.files();
  return list;
}

Result<std::int64_t> planned_bytes(const SyncPlace& place, const SyncTask& task,
                                   const ProgressSink& tell, std::stop_token stop) {
  if (task.dry || task.delete_source) return std::int64_t{0};
  TRY(const SyncList list, list_sync(place, task, tell, std::move(stop)));
  std::int64_t bytes = 0;
  for (const CopyList::Group& group : list.files.groups()) bytes += group.bytes;
  return bytes;
}

Result<> delete_extra(const SyncPlace& place, const SyncTask& task, std::stop_token stop) {
  TRY(const Prepared made, prepare(place, task, SyncAction::kDelete));
  CHECK_DONE(carry_out(place, made, {}, std::move(stop), {}));
  return Done{};
}

}  // namespace paddle::engine::juicefs
