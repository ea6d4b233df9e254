// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/figures.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "engine/juicefs/node/disks.h"
#include "engine/juicefs/node/said.h"
#include "engine/juicefs/node/usage_estimate.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::chrono::seconds kLookEvery{10};
constexpr std::int64_t kShareOfTime = 10;  // of which counting, or looking, takes one
constexpr std::uint16_t kThreads = 10;
constexpr const char* kByProcess =
    "the JuiceFS CSI driver runs in by-process mode, where every pod has a client of its own: a "
    "trainer that runs already does not see what is warmed up after its start; use mount-pod mode";

constexpr const char* kBlocks = "juicefs_blockcache_blocks";
constexpr const char* kBytes = "juicefs_blockcache_bytes";

std::int64_t held_by(const std::string& stats) {
  return payload(figure(stats, kBlocks).value_or(0), figure(stats, kBytes).value_or(0));
}

std::int64_t count(const std::string& stats, const char* name) {
  const double value = figure(stats, name).value_or(0);
  return value > 0 && value < 9e18 ? static_cast<std::int64_t>(value) : 0;
}

}  // namespace

Figures::Figures(const std::string& mount, std::vector<std::string> disks)
    : control_(mount, [this] { heard(); }),
      disks_(std::move(disks)),
      thread_([this](const std::stop_token& end) { run(end); }) {}

Figures::~Figures() {
  thread_.request_stop();
  thread_.join();
}

Status Figures::status() const {
  Lock lock(mutex_);
  const auto now = system_clock().boot();
  return shown(status_, heard_ ? now - *heard_ : std::chrono::nanoseconds{});
}

void Figures::heard() {
  Lock lock(mutex_);
  if (heard_) heard_ = system_clock().boot();
}

void Figures::set_part(std::vector<std::string> paths) {
  Lock lock(mutex_);
  part_ = std::move(paths);
  ++part_number_;
}

void Figures::note_part(const CacheFigures& seen) {
  Lock lock(mutex_);
  status_.part_bytes = seen.bytes;
  status_.part_cached_bytes = seen.bytes - seen.missing;
  status_.cached_bytes = std::max(status_.cached_bytes, status_.part_cached_bytes);
  status_.life = life_;
  shown_at_.reset();
}

void Figures::fill_part(bool filling) {
  Lock lock(mutex_);
  filling_ = filling;
}

void Figures::look_soon() {
  Lock lock(mutex_);
  hurry_ = true;
  wake_.notify_all();
}

void Figures::glance() {
  if (const auto stats = control_.stats()) follow(*stats);
  look_soon();
}

void Figures::run(const std::stop_token& end) {
  while (!end.stop_requested()) {
    bool hurry = false;
    {
      Lock lock(mutex_);
      hurry = std::exchange(hurry_, false);
    }
    if (auto looked = look(hurry, end); !looked && !looked.is(Code::kCancelled)) {
      log::warn("can not look at the volume", {{"reason", looked.error().message}});
      Lock lock(mutex_);
      status_.mounts = 0;
      status_.remark = looked.error().message;
    }
    Lock lock(mutex_);
    heard_.reset();
    if (!hurry_ && !end.stop_requested()) wake_.wait_for(mutex_, end, kLookEvery);
  }
}

Result<> Figures::look(bool hurry, const std::stop_token& end) {
  const DiskSpace disk = space_of(disks_);
  {
    Lock lock(mutex_);
    status_.disk_size = disk.size;
    status_.disk_used = disk.used;
    status_.disk_avail = disk.avail;
    heard_ = system_clock().boot();
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
  }
  follow(stats);
  TRY(const VolumeTotals quick, control_.totals(false, end));
  CHECK_DONE(look_at_files(quick, hurry, end));
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
  Seen now{.blocks = figure(stats, kBlocks).value_or(0),
           .bytes = figure(stats, kBytes).value_or(0),
           .quick = quick,
           .life = life};
  {
    Lock lock(mutex_);
    now.part = part_number_;
  }
  const bool changed = now != seen_;
  seen_.quick = quick;
  if (!hurry && (!changed || system_clock().boot() < next_check_)) return Done{};
  CHECK_DONE(look_at_cache(life, end));
  seen_ = now;
  TRY(const std::string after, control_.stats());
  Lock lock(mutex_);
  // Some of what came or went meanwhile was seen: too little is shown rather than too much.
  shown_at_ = std::max(held_by(stats), held_by(after));
  return Done{};
}

Result<> Figures::look_at_files(const VolumeTotals& quick, bool hurry, const std::stop_token& end) {
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
  next_count_ = ended + kShareOfTime * (ended - began);
  return Done{};
}

void Figures::follow(const std::string& stats) {
  const std::int64_t held = held_by(stats);
  const std::string life = client_life(stats);
  Lock lock(mutex_);
  const std::int64_t before = std::exchange(shown_at_, held).value_or(held);
  if (held == before || status_.life != life) return;
  status_ = followed(std::move(status_), before, held, filling_);
}

Result<> Figures::look_at_cache(const std::string& life, const std::stop_token& end) {
  const BootTime began = system_clock().boot();
  std::vector<std::string> part;
  {
    Lock lock(mutex_);
    part = part_;
  }
  TRY(const CacheFigures all, control_.cache(CacheAction::kCheck, {"/"}, kThreads, {}, end));
  {
    Lock lock(mutex_);
    // A file that was written over has blocks that are no longer part of it.
    const auto cached = std::clamp<std::int64_t>(all.bytes - all.missing, 0, totals_.bytes);
    // A client passes over what it can not find: that is not cached.
    const bool whole = all.missing == 0 && all.files >= totals_.files;
    status_.cached_bytes = whole ? totals_.bytes : cached;
  }
  CacheFigures own = all;
  if (static_cast<std::int64_t>(part.size()) < all.files) {
    TRY(own, control_.cache(CacheAction::kCheck, part, kThreads, {}, end));
  }
  const BootTime ended = system_clock().boot();
  next_check_ = ended + kShareOfTime * (ended - began);
  Lock lock(mutex_);
  status_.part_bytes = own.bytes;
  status_.part_cached_bytes = own.bytes - own.missing;
  status_.life = life;  // never before what it holds has been seen
  return Done{};
}

}  // namespace paddle::engine::juicefs
