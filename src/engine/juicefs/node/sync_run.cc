// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync_run.h"

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

// Follows a sync through its metrics.
class Follower {
 public:
  Follower(const ProgressSink& tell, std::stop_token stop) : tell_(tell), stop_(std::move(stop)) {}

  void heard(std::string_view piece) {
    note_left_out(piece);
    if (!address_) {
      log_.append(piece);
      address_ = metrics_address(log_);
    }
    if (!address_ || system_clock().boot() < next_) return;
    const auto reply = http_.send({.url = "http://" + *address_ + "/metrics"},
                                  {.timeout = kMetricsLimit, .stop = stop_});
    next_ = system_clock().boot() + kTellEvery;
    if (!reply || reply->status != 200) return;
    progress_ = sync_progress(reply->body);
    rate_.update(progress_);
    tell_(progress_);
  }

  Progress last() const { return progress_; }
  // What the source did not let us read; nothing when it let us read everything.
  const std::optional<std::string>& left_out_first() const { return left_out_; }

 private:
  // Early lines are not kept to the end: looked at as they come, whole ones only.
  void note_left_out(std::string_view piece) {
    if (left_out_) return;
    line_.append(piece);
    const std::size_t whole = line_.rfind('\n');
    if (whole == line_.npos) {
      if (line_.size() > kLongestLine) line_.clear();
      return;
    }
    left_out_ = left_out(std::string_view(line_).substr(0, whole + 1));
    line_.erase(0, whole + 1);
  }

  const ProgressSink& tell_;
  const std::stop_token stop_;
  net::HttpClient http_{{.proxy = ""}};
  std::string log_{};
  std::string line_{};
  std::optional<std::string> left_out_{};
  std::optional<std::string> address_{};
  BootTime next_{};
  Progress progress_{};
  Rate rate_{system_clock()};
};

}  // namespace

Result<> run_sync(const SyncPlace& place, const SyncTask& task, const ProgressSink& tell,
                  std::stop_token stop) {
  TRY(const SecretFiles volume, read_secret(place.volume_secret));
  SecretFiles keys = task.keys.values;
  const bool own = keys.empty();
  if (own) {
    TRY(keys, read_secret(place.source_secret));
  }
  auto url = read_metadata_url(value_of(volume, "metaurl"), {});
  if (!url || value_of(volume, "metaurl").empty()) {
    return Error{Code::kInvalid, "the volume's Secret has no metaurl that can be used"};
  }
  TRY(const SourceAccess access, source_access(place.source, keys));
  TRY(std::vector<std::string> argv, sync_arguments(access, task, place.sub_dir));
  argv.insert(argv.begin(), place.program);

  std::vector<std::string> env = access.env;
  env.push_back("PATH=/usr/bin:/bin");
  env.push_back("HOME=" + place.home);
  env.push_back(std::string(kVolumeVariable) + "=" + url->whole);
  if (const auto phrase = value_of(volume, "passphrase"); !phrase.empty()) {
    env.push_back("JFS_RSA_PASSPHRASE=" + phrase);
  }
  if (own && keys.contains("ca.crt"))
    env.push_back("SSL_CERT_FILE=" + place.source_secret + "/ca.crt");

  std::vector<std::string> secrets = secrets_of(volume);
  for (auto& each : secrets_of(keys)) secrets.push_back(std::move(each));
  secrets.push_back(url->password);

  Follower follower(tell, stop);
  TRY(const ChildEnd end, run_child({.argv = argv, .env = env}, stop,
                                    [&](std::string_view piece) { follower.heard(piece); }));
  Progress progress = sync_outcome(end.said).value_or(follower.last());
  progress.bytes_done = std::max(progress.bytes_done, follower.last().bytes_done);
  progress.bytes_total = progress.bytes_done;
  tell(progress);
  if (const auto& part = follower.left_out_first(); part && end.exit_code == 0) {
    return Error{Code::kForbidden,
                 "the source keeps something from us: " + redacted(*part, secrets) +
                     "; give the user of its Secret the right to read it"};
  }
  if (end.exit_code == 0) return Done{};
  const std::string why = redacted(last_words(end.said), secrets);
  log::warn("juicefs sync ended", {{"exit", end.exit_code}, {"reason", why}});
  if (why.find("invalid storage: ") != why.npos) {
    return Error{Code::kInvalid,
                 "the juicefs program of this image was built without the storage "
                 "of '" +
                     place.source + "'; use an image whose juicefs has it"};
  }
  return Error{Code::kUnavailable, "juicefs sync from '" + place.source + "' failed: " + why};
}

}  // namespace paddle::engine::juicefs
