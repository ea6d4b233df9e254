// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/client/usage_poller.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "engine/juicefs/node/command/juicefs_output.h"
#include "engine/juicefs/node/plan/usage_estimate.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::int64_t kPollCost = 10;  // counting takes at most one part of so many
constexpr std::uint16_t kThreads = 10;
constexpr const char* kByProcess =
    "the JuiceFS CSI driver runs in by-process mode, where every pod has a client of its own: a "
    "trainer that runs already does not see what is warmed up after its start; use mount-pod mode";

constexpr const char* kBlocks = "juicefs_blockcache_blocks";
constexpr const char* kBytes = "juicefs_blockcache_bytes";

std::int64_t held_by(const std::string& stats) {
  return payload(metric_value(stats, kBlocks).value_or(0), metric_value(stats, kBytes).value_or(0));
}

std::int64_t count(const std::string& stats, const char* name) {
  const double value = metric_value(stats, name).value_or(0);
  return value > 0 && value < 9e18 ? static_cast<std::int64_t>(value) : 0;
}

}  // namespace

UsagePoller::UsagePoller(const std::string& mount, std::int64_t cache_bytes)
    : control_(mount, [this] { on_answer(); }),
      cache_bytes_(cache_bytes),
      thread_([this](const std::stop_token& end) { run(end); }) {}

UsagePoller::~UsagePoller() {
  thread_.request_stop();
  thread_.join();
}

Status UsagePoller::status() const {
  Lock lock(mutex_);
  const auto now = system_clock().boot();
  return shown(status_, answered_ ? now - *answered_ : std::chrono::nanoseconds{});
}

void UsagePoller::on_answer() {
  Lock lock(mutex_);
  if (answered_) answered_ = system_clock().boot();
}

void UsagePoller::set_part(Paths paths) {
  Lock lock(mutex_);
  part_ = std::move(paths);
  ++part_number_;
}

void UsagePoller::set_part_usage(const CacheUsage& seen) {
  Lock lock(mutex_);
  status_.part_bytes = seen.bytes;
  status_.part_cached_bytes = seen.bytes - seen.missing;
  status_.cached_bytes = std::max(status_.cached_bytes, status_.part_cached_bytes);
  status_.life = life_;
  shown_at_.reset();
}

void UsagePoller::set_filling(bool filling) {
  Lock lock(mutex_);
  filling_ = filling;
}

void UsagePoller::refresh_soon() {
  Lock lock(mutex_);
  hurry_ = true;
  wake_.notify_all();
}

void UsagePoller::refresh_counts() {
  if (const auto stats = control_.stats()) apply_counts(*stats);
  refresh_soon();
}

void UsagePoller::run(const std::stop_token& end) {
  while (!end.stop_requested()) {
    bool hurry = false;
    {
      Lock lock(mutex_);
      hurry = std::exchange(hurry_, false);
    }
    if (auto polled = poll(hurry, end); !polled && !polled.is(Code::kCancelled)) {
      log::warn("cannot poll the volume", {{"reason", polled.error().message}});
      Lock lock(mutex_);
      status_.mounts = 0;
      status_.remark = polled.error().message;
    }
    Lock lock(mutex_);
    answered_.reset();
    if (!hurry_ && !end.stop_requested()) wake_.wait_for(mutex_, end, kClientPollInterval);
  }
}

Result<> UsagePoller::poll(bool hurry, const std::stop_token& end) {
  {
    Lock lock(mutex_);
    update_space(status_, cache_bytes_, status_.disk_used);
    answered_ = system_clock().boot();
  }
  TRY(const std::string stats, control_.stats());
  MountConfig config;
  if (const auto text = control_.config()) {
    if (auto parsed = parse_config(*text)) config = *std::move(parsed);
  }
  const std::string life = client_life(stats);
  {
    Lock lock(mutex_);
    life_ = life;
    update_space(status_, cache_bytes_, held_by(stats));  // blocks of files that are gone included
  }
  apply_counts(stats);
  TRY(const VolumeTotals quick, control_.totals(false, end));
  CHECK_DONE(poll_files(quick, hurry, end));
  {
    Lock lock(mutex_);
    status_.index = Status::Index{.files = totals_.files, .bytes = totals_.bytes};
    status_.limit = config.cache_size;
    status_.from_cache = count(stats, "juicefs_blockcache_hit_bytes");
    status_.from_source = count(stats, "juicefs_blockcache_miss_bytes");
    status_.downloaded = count(stats, "juicefs_object_request_data_bytes_GET");
    status_.mounts = 1;
    status_.remark = config.by_process ? kByProcess : "";
  }
  Seen now{.blocks = metric_value(stats, kBlocks).value_or(0),
           .bytes = metric_value(stats, kBytes).value_or(0),
           .quick = quick,
           .life = life};
  {
    Lock lock(mutex_);
    now.part = part_number_;
  }
  const bool changed = now != seen_;
  seen_.quick = quick;
  if (!hurry && (!changed || system_clock().boot() < next_check_)) return Done{};
  CHECK_DONE(poll_cache(life, held_by(stats), end));
  seen_ = now;
  TRY(const std::string after, control_.stats());
  Lock lock(mutex_);
  // Part of what changed during the check was seen: report too little rather than too much.
  shown_at_ = std::max(held_by(stats), held_by(after));
  return Done{};
}

Result<> UsagePoller::poll_files(const VolumeTotals& quick, bool hurry,
                                 const std::stop_token& end) {
  if (!hurry && counted_ == quick) return Done{};
  const BootTime began = system_clock().boot();
  if (!hurry && began < next_count_) {
    totals_ = quick;
    counted_.reset();
    return Done{};
  }
  TRY(totals_, control_.totals(true, end));
  counted_ = quick;
  const BootTime ended = system_clock().boot();
  next_count_ = ended + kPollCost * (ended - began);
  return Done{};
}

void UsagePoller::apply_counts(const std::string& stats) {
  const std::int64_t held = held_by(stats);
  const std::string life = client_life(stats);
  Lock lock(mutex_);
  const std::int64_t before = std::exchange(shown_at_, held).value_or(held);
  if (held == before || status_.life != life) return;
  status_ = followed(std::move(status_), before, held, filling_);
}

Result<> UsagePoller::poll_cache(const std::string& life, std::int64_t held,
                                 const std::stop_token& end) {
  const BootTime began = system_clock().boot();
  Paths part;
  {
    Lock lock(mutex_);
    part = part_;
  }
  const bool whole_volume = checks_whole(totals_.files, static_cast<std::int64_t>(part->size()));
  CacheUsage all;
  if (whole_volume) {
    TRY(all, control_.cache(CacheAction::kCheck, {"/"}, kThreads, {}, end));
    Lock lock(mutex_);
    // A file that was overwritten has blocks that no longer belong to it.
    const auto cached = std::clamp<std::int64_t>(all.bytes - all.missing, 0, totals_.bytes);
    // A client skips files that it cannot find: they are not cached.
    const bool whole = all.missing == 0 && all.files >= totals_.files;
    status_.cached_bytes = whole ? totals_.bytes : cached;
  }
  CacheUsage own = all;
  if (!whole_volume || static_cast<std::int64_t>(part->size()) < all.files) {
    TRY(own, control_.cache(CacheAction::kCheck, *part, kThreads, {}, end));
  }
  const BootTime ended = system_clock().boot();
  next_check_ = ended + kPollCost * (ended - began);
  Lock lock(mutex_);
  status_.part_bytes = own.bytes;
  status_.part_cached_bytes = own.bytes - own.missing;
  if (!whole_volume) {
    status_.cached_bytes = cached_of_whole(totals_.bytes, own.bytes - own.missing, held);
  }
  status_.life = life;  // only after the contents of its cache were checked
  return Done{};
}

}  // namespace paddle::engine::juicefs
