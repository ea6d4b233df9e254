// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/node_engine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "base/log.h"
#include "base/units.h"
#include "engine/samplefs/node/file_selection.h"
#include "engine/samplefs/node/sync_rules.h"
#include "engine/samplefs/node/verification.h"
#include "samplefs/filler.h"
#include "samplefs/merge.h"
#include "samplefs/store/format.h"
#include "samplefs/unreferenced_blocks.h"

namespace paddle::engine::samplefs {
namespace {

namespace data = ::paddle::samplefs;

constexpr std::uint64_t kObjectsPerReport = 1000;  // objects of a listing
constexpr std::chrono::milliseconds kReportInterval{250};
constexpr std::uint64_t kLongestList = std::uint64_t{256} << 20;
constexpr std::chrono::milliseconds kMeasuringInterval{500};
constexpr std::chrono::milliseconds kProbingInterval{500};
constexpr data::Index::Position kMeasuredAtOnce = 4096;  // files: a few milliseconds
constexpr std::int32_t kMostThreads = 64;                // of one warm-up
// A node follows within a fraction of a second. A job does not fail because of one that does not.
constexpr std::chrono::seconds kNodeLimit{5};
// Of each disk, unless it is memory: what others write there must not fail because of a cache.
constexpr double kKeptFree = 0.02;

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

Result<Disk> disk_of(const std::string& directory) {
  struct statvfs seen {};
  if (::statvfs(directory.c_str(), &seen) != 0) {
    return Error{Code::kUnavailable,
                 "the cache directory '" + directory + "' cannot be used: " + std::strerror(errno)};
  }
  return Disk{.size = seen.f_blocks * seen.f_frsize, .avail = seen.f_bavail * seen.f_frsize};
}

// What the segments of a store have on its disk.
std::uint64_t taken(const std::string& store) {
  std::uint64_t bytes = 0;
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator(store, none)) {
    struct stat file {};
    if (::lstat(each.path().c_str(), &file) == 0 && S_ISREG(file.st_mode)) {
      bytes += static_cast<std::uint64_t>(file.st_blocks) * 512;
    }
  }
  return bytes;
}

// The most urgent sentence about the store.
std::string remark_of(const data::StoreStats& stats) {
  if (!stats.degraded.empty()) return stats.degraded;
  if (stats.unreadable > 0) {
    return "blocks of the cache that its disk could not read: " +
           with_commas(number(stats.unreadable)) + " (" + std::strerror(stats.unreadable_errno) +
           "); they are fetched from the source again; check the disk";
  }
  if (stats.damaged > 0) {
    return "damaged blocks of the cache: " + with_commas(number(stats.damaged)) +
           "; they were not served and are fetched from the source again; check the disk";
  }
  return stats.notice;
}

Result<data::TierOptions> tier_of(const CacheDirectory& cache) {
  TRY(Disk disk, disk_of(cache.path));
  const std::string directory = cache.path + "/store";
  disk.cached = taken(directory);
  const CacheLimit limit = cache_limit(cache.mib, disk);
  if (!limit.notice.empty()) log::warn(limit.notice, {{"directory", cache.path}});
  struct statfs seen {};
  const bool memory = ::statfs(cache.path.c_str(), &seen) == 0 && seen.f_type == TMPFS_MAGIC;
  return data::TierOptions{
      .directory = directory, .limit = limit.bytes, .keep_free = memory ? 0 : kKeptFree};
}

LeftOut counted(const source::LeftOut& left) {
  return {.count = number(left.count), .examples = left.examples};
}

// Nothing is offered while it lives.
std::unique_ptr<GenerationOffer::Withheld> withhold(GenerationOffer* offer) {
  return offer ? std::make_unique<GenerationOffer::Withheld>(*offer) : nullptr;
}

void await_node(const std::unique_ptr<GenerationOffer::Withheld>& withheld) {
  if (!withheld || withheld->await_node(kNodeLimit)) return;
  log::warn("the node still shows a sealed view of what has changed");
}

LeftOut left_out_of(const data::Index& index, const data::Origin* only = nullptr) {
  source::LeftOut sum;
  for (const auto& [origin, left] : index.left_out_notes()) {
    if (!only || origin == *only) sum.add(left);
  }
  return counted(sum);
}

// Counts the objects of a listing, and reports them.
class Count {
 public:
  explicit Count(const ProgressSink& report) : report_(report) {}
  void add(const source::Object& object) {
    ++progress_.files_done;
    progress_.bytes_done += number(object.size);
    if (static_cast<std::uint64_t>(progress_.files_done) % kObjectsPerReport == 0)
      report_(progress_);
  }
  // The listing is complete.
  void finish(LeftOut left_out) {
    progress_.files_total = progress_.files_done;
    progress_.bytes_total = progress_.bytes_done;
    progress_.left_out = std::move(left_out);
    report_(progress_);
  }

 private:
  const ProgressSink& report_;
  Progress progress_{};
};

Progress progress_of(const data::FillProgress& fill) {
  Progress progress{.files_total = number(fill.files_total),
                    .files_done = number(fill.files_done),
                    .files_failed = number(fill.files_failed),
                    .files_no_room = number(fill.files_no_room),
                    .bytes_total = number(fill.bytes_total),
                    .bytes_done = number(fill.bytes_done),
                    .bytes_per_second = static_cast<std::int64_t>(fill.bytes_per_second())};
  if (const auto left = fill.time_left()) progress.seconds_left = left->count();
  return progress;
}

// Keys of sources were in the cache directory once.
void remove_old_keys(const std::string& state) {
  std::error_code ignored;
  std::filesystem::remove_all(state + "/keys", ignored);
}

}  // namespace

CacheLimit cache_limit(std::uint64_t wanted_mib, const Disk& disk) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  const std::uint64_t most = disk.avail + std::min(disk.cached, disk.size);
  if (wanted_mib == 0) return {.bytes = most / 10 * 9, .notice = {}};
  const std::uint64_t wanted =
      wanted_mib > std::numeric_limits<std::uint64_t>::max() / kMiB ? most + 1 : wanted_mib * kMiB;
  if (wanted <= most) return {.bytes = wanted, .notice = {}};
  return {.bytes = most,
          .notice = "the disk has room for a cache of " + std::to_string(most / kMiB) +
                    " MiB only, not of " + std::to_string(wanted_mib) +
                    " MiB; give it a larger disk or a smaller limit"};
}

Result<std::unique_ptr<SamplefsNodeEngine>> SamplefsNodeEngine::open(const NodeOptions& options,
                                                                     Metrics& metrics) {
  NodeOptions given = options;
  if (given.state.empty()) given.state = given.cache;
  remove_old_keys(given.state);
  std::unique_ptr<SamplefsNodeEngine> engine(new SamplefsNodeEngine(given));
  std::vector<data::TierOptions> tiers;
  TRY(tiers.emplace_back(), tier_of({.path = options.cache, .mib = options.cache_mib}));
  for (const CacheDirectory& each : options.next_tiers) {
    TRY(tiers.emplace_back(), tier_of(each));
  }
  auto opened = data::Store::open(std::move(tiers));
  if (!opened) return std::move(opened).error().in("cache '" + options.cache + "'");
  engine->store_ = *std::move(opened);
  engine->store_->set_scrub_rate(options.scrub_rate);
  TRY(const IndexFiles::Opened found, engine->files_on_disk_.open());
  const std::vector<IndexPtr>& indices = found.indexes;
  for (const IndexPtr& index : indices) engine->sources_.learn(*index);
  {
    Lock lock(engine->changing_);
    engine->latest_ = found.latest;
  }
  {
    Lock lock(engine->damage_mutex_);
    engine->damage_ = found.damage;
  }
  engine->data_ = std::make_unique<data::ReadThrough>(engine->store_.get(), engine->sources_,
                                                      data::ReadThrough::kRecentBytes,
                                                      system_clock(), options.in_flight);
  engine->files_ =
      std::make_unique<data::SampleFiles>(indices.front(), *engine->data_, given.source.uri);
  for (std::size_t i = 1; i < indices.size(); ++i) engine->files_->switch_to(indices[i]);
  if (!options.session.empty()) {
    std::vector<std::string> stores{options.cache + "/store"};
    for (const CacheDirectory& each : options.next_tiers) stores.push_back(each.path + "/store");
    engine->offer_ =
        std::make_unique<GenerationOffer>(options.session, given.state, std::move(stores));
  }
  engine->sessions_ =
      std::make_unique<Sessions>(*engine->files_, metrics, given.state, options.read_limit);
  log::info("cache opened", {{"directory", options.cache},
                             {"tiers", options.next_tiers.size() + 1},
                             {"limit_mib", engine->store_->stats().limit >> 20},
                             {"generation", engine->files_->current()->generation()}});
  if (engine->files_->current()->size() <= kMeasuredAtOnce) engine->measure();
  SamplefsNodeEngine* self = engine.get();
  engine->measurer_ =
      std::jthread([self](const std::stop_token& stop) { self->keep_measuring(stop); });
  engine->verifier_ = std::jthread([self] { self->verify_current(); });
  engine->prober_ = std::jthread([self](const std::stop_token& stop) {
    while (system_clock().sleep(kProbingInterval, stop)) self->sources_.probe(stop);
  });
  return engine;
}

void SamplefsNodeEngine::measure() {
  Lock lock(measuring_);
  cached_.measure(files_->current(), *store_);
}

void SamplefsNodeEngine::renew_offer() {
  if (!offer_) return;
  const std::uint64_t round = offer_->round();
  const IndexPtr index = files_->current();
  bool whole = index->generation() > 0 && index->totals().files > 0 && cached_.is_complete(index);
  {
    Lock lock(damage_mutex_);
    whole = whole && damage_.empty();
  }
  if (!whole) return offer_->withdraw();
  if (offer_->offers(*index)) return;
  // What a view shows has to be on the disk.
  if (const auto synced = store_->flush(); !synced) return;
  const std::filesystem::path file = files_on_disk_.file(index->generation());
  offer_->offer(*index, file.filename(), round);
}

void SamplefsNodeEngine::keep_measuring(const std::stop_token& stop) {
  std::chrono::nanoseconds pause = kMeasuringInterval;
  while (system_clock().sleep(pause, stop)) {
    const BootTime begin = system_clock().boot();
    if (cached_.is_stale(files_->current(), *store_)) measure();
    renew_offer();
    // At most a twentieth of one core.
    pause = std::max<std::chrono::nanoseconds>(kMeasuringInterval,
                                               20 * (system_clock().boot() - begin));
  }
}

void SamplefsNodeEngine::verify_current() {
  const IndexPtr index = files_->current();
  const auto whole = index->verify();
  if (whole) return;
  log::error("the index is damaged",
             {{"generation", index->generation()}, {"reason", whole.error().message}});
  Lock lock(damage_mutex_);
  if (files_->current() != index) return;  // a sync has replaced it meanwhile
  damage_ = "the index of generation " + std::to_string(index->generation()) + " is damaged (" +
            whole.error().message +
            "), and some names cannot be read until the next sync: run a SampleJob of type sync";
}

IndexPtr SamplefsNodeEngine::sound_base() const {
  const std::vector<IndexPtr> all = files_->generations();
  for (auto index = all.rbegin(); index != all.rend(); ++index) {
    if ((*index)->verify()) return *index;
  }
  return nullptr;
}

SamplefsNodeEngine::~SamplefsNodeEngine() {
  verifier_ = {};  // joins
  if (files_) files_->stop();
  sessions_.reset();
}

Result<> SamplefsNodeEngine::run(const JobRequest& job, const ProgressSink& report,
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
      return verify(job.which, report, std::move(stop));
  }
  return Error{Code::kInternal, "not a kind of job"};
}

Result<> SamplefsNodeEngine::publish(const std::string& job, bool is_sync,
                                     data::IndexBuilder& next) {
  const IndexPtr before = files_->current();
  data::GenerationInfo info = data::next_after(*before, job, is_sync);
  if (info.generation <= latest_) {
    info.generation = latest_ + 1;
    if (is_sync) info.synced = info.generation;
  }
  const std::string file = files_on_disk_.file(info.generation);
  CHECK_DONE(next.write(file, info));
  TRY(const IndexPtr index, data::Index::open(file));
  sources_.learn(*index);
  latest_ = info.generation;
  const auto withheld = withhold(offer_.get());
  {
    Lock lock(damage_mutex_);
    files_->switch_to(index);
    damage_.clear();
  }
  sessions_->announce();
  await_node(withheld);
  before_ = is_sync ? before : nullptr;
  drop_unreferenced_blocks();
  files_on_disk_.prune(info.generation, before->generation());
  sources_.forget_keys(*index, *before);
  measure();
  const auto totals = index->totals();
  log::info("new generation", {{"generation", info.generation},
                               {"job", job},
                               {"files", totals.files},
                               {"bytes", totals.bytes},
                               {"left_out", index->left_out()}});
  return Done{};
}

void SamplefsNodeEngine::drop_unreferenced_blocks() {
  data::UnreferencedBlocks blocks(store_->keys());
  blocks.needs(*files_->current());
  if (before_) blocks.needs(*before_);
  store_->drop_all(blocks.rest());
}

Result<> SamplefsNodeEngine::sync(const SyncTask& task, const ProgressSink& report,
                                  std::stop_token stop) {
  TRY(const data::SyncRules rules, sync_rules(task, sources_.own()));
  if (const IndexPtr index = files_->current(); index->was_made_by(task.job)) {
    report({.left_out = left_out_of(*index, &rules.origin)});
    return Done{};
  }
  const auto source = sources_.open(rules.origin, task.keys.values, task.megabits);
  data::IndexBuilder next(options_.state);
  Count count(report);
  TRY(const source::Listed listed, source->list(
                                       [&](source::Object&& object) -> Result<> {
                                         const auto listed_before = next.listed();
                                         CHECK_DONE(data::add_listed(object, rules, next));
                                         if (next.listed() > listed_before) count.add(object);
                                         return Done{};
                                       },
                                       stop));
  next.leave_out(listed.left_out, rules.origin);
  count.finish(counted(listed.left_out));
  if (task.dry) {
    log::info("would have synced", {{"job", task.job}, {"files", next.listed()}});
    return Done{};
  }
  Lock lock(changing_);
  if (stop.stop_requested()) return Error{Code::kCancelled, "the sync was stopped"};
  if (files_->current()->was_made_by(task.job)) return Done{};
  // Before a file of it can be read.
  CHECK_DONE(sources_.keep_keys(rules.origin, task.keys.values));
  if (const IndexPtr base = sound_base()) data::keep_beside(*base, rules, next);
  CHECK_DONE(publish(task.job, true, next));
  count.finish(left_out_of(*files_->current(), &rules.origin));
  return Done{};
}

Result<std::vector<data::Index::Position>> SamplefsNodeEngine::select(const data::Index& index,
                                                                      const Selection& which) {
  if (which.file.empty()) return select_files(index, which);
  const auto found = index.resolve(which.file);
  if (!found || index.at(*found).directory) {
    return Error{Code::kNotFound,
                 "the set has no file '" + which.file + "'; sync it or correct the path"};
  }
  const data::Index::Entry entry = index.at(*found);
  if (entry.size > kLongestList) {
    return Error{Code::kInvalid, "'" + which.file + "' is too large for a list of paths"};
  }
  std::string text(entry.size, '\0');
  // The read of a job has no deadline: the source limits its own attempts.
  TRY(const std::size_t got,
      files_->read(entry.id, 0, std::as_writable_bytes(std::span(text)), BootTime::max()));
  text.resize(got);
  return select_listed(index, text, which);
}

void SamplefsNodeEngine::make_room_for(const data::Index& index,
                                       const std::vector<data::Index::Position>& files) {
  const auto stats = store_->stats();
  const std::uint64_t room = stats.limit - std::min(stats.used, stats.limit);
  std::uint64_t missing = 0;
  for (const auto position : files) {
    if (missing > room) break;
    const data::Index::Entry entry = index.at(position);
    const std::string path = index.path_of(position);
    for (std::uint64_t at = 0; at < entry.size && missing <= room; at += data::kBlockSize) {
      const data::Block block = index.block(entry, path, at);
      if (!store_->holds(block)) missing += data::stored_size(block) + 2 * sizeof(data::Slot);
    }
  }
  if (missing == 0 || missing <= room) return;
  Lock lock(changing_);
  before_.reset();
  drop_unreferenced_blocks();
}

Result<> SamplefsNodeEngine::warm_up(const Selection& which, const ProgressSink& report,
                                     std::stop_token stop) {
  const IndexPtr index = files_->current();
  if (index->generation() == 0) {
    return Error{Code::kConflict, "there is nothing to warm up before the first sync"};
  }
  TRY(std::vector<data::Index::Position> files, select(*index, which));
  make_room_for(*index, files);
  data::FillOptions options;
  if (which.threads > 0) options.workers = std::min(which.threads, kMostThreads);
  data::Filler filler(index, std::move(files), *data_, options);
  Result<> done = Done{};
  {
    const std::jthread reporter([&](const std::stop_token& end) {
      do {
        report(progress_of(filler.progress()));
      } while (system_clock().sleep(kReportInterval, end));
    });
    done = filler.run(std::move(stop));
  }
  const data::FillProgress fill = filler.progress();
  report(progress_of(fill));
  measure();
  // It may have stored blocks that were dropped meanwhile.
  if (files_->current() != index) {
    Lock lock(changing_);
    drop_unreferenced_blocks();
  }
  CHECK_DONE(std::move(done));
  if (fill.files_failed == 0) return Done{};
  return Error{
      Code::kUnavailable,
      std::to_string(fill.files_failed) + " of " + std::to_string(fill.files_total) +
          " files could not be brought into the cache, the first: " + fill.first_error +
          "; a sync updates changed files, and with delete-dst removes those that are gone"};
}

Result<> SamplefsNodeEngine::clear(const Selection& which, const ProgressSink& report,
                                   std::stop_token) {
  Lock lock(changing_);
  const IndexPtr index = files_->current();
  TRY(const std::vector<data::Index::Position> files, select_files(*index, which));
  std::vector<bool> gone(index->size());
  for (const auto position : files) gone[position] = true;
  const auto withheld = withhold(offer_.get());
  await_node(withheld);
  data::UnreferencedBlocks blocks(store_->keys());
  blocks.needs(*index, [&](data::Index::Position position) { return !gone[position]; });
  before_.reset();
  store_->drop_all(blocks.rest());
  measure();
  report({.files_total = number(files.size()), .files_done = number(files.size())});
  return Done{};
}

Result<> SamplefsNodeEngine::remove(const Selection& which, const ProgressSink& report,
                                    std::stop_token stop) {
  std::vector<std::string> paths;
  for (const std::string& given : which.paths) {
    TRY(paths.emplace_back(), path_in_set(given));
  }
  if (paths.empty()) {
    return Error{Code::kInvalid, "name the paths of the set to remove"};
  }
  Lock lock(changing_);
  if (stop.stop_requested()) return Error{Code::kCancelled, "the removal was stopped"};
  const IndexPtr before = files_->current();
  if (before->was_made_by(which.job)) return Done{};
  if (!before->verify()) {
    return Error{Code::kConflict,
                 "the index of the set is damaged; sync the set, then remove again"};
  }
  const auto there = [&](const std::string& path) { return before->resolve(path).has_value(); };
  if (std::none_of(paths.begin(), paths.end(), there)) {
    if (which.again) return Done{};
    return Error{Code::kNotFound, "the set has no '" + paths.front() + "'; correct the path"};
  }
  data::IndexBuilder next(options_.state);
  const data::Removed removed = data::keep_all_but(*before, paths, next);
  CHECK_DONE(publish(which.job, false, next));
  report({.files_total = number(removed.files),
          .files_done = number(removed.files),
          .bytes_total = number(removed.bytes),
          .bytes_done = number(removed.bytes)});
  return Done{};
}

Result<> SamplefsNodeEngine::verify(const Selection& which, const ProgressSink& report,
                                    std::stop_token stop) {
  const IndexPtr index = files_->current();
  if (index->generation() == 0) {
    return Error{Code::kConflict, "there is nothing to verify before the first sync"};
  }
  if (const auto whole = index->verify(); !whole) {
    return Error{Code::kConflict, "the index of the set is damaged (" + whole.error().message +
                                      "); sync the set, then verify again"};
  }
  data::VerifyFiles files{.index = index, .expected = std::vector<bool>(index->size())};
  TRY(files.files, select_files(*index, {.paths = which.paths}));
  TRY(const std::vector<data::Index::Position> part, select_files(*index, which));
  for (const auto position : part) files.expected[position] = true;
  if (which.repair) make_room_for(*index, part);
  data::VerifyOptions options{.repair = which.repair};
  if (which.threads > 0) options.workers = std::min(which.threads, kMostThreads);
  auto done = verify_cache(std::move(files), options,
                           {.store = *store_, .data = *data_, .sources = sources_}, report,
                           std::move(stop));
  measure();
  // It may have stored blocks that were dropped meanwhile.
  if (which.repair && files_->current() != index) {
    Lock lock(changing_);
    drop_unreferenced_blocks();
  }
  return done;
}

Status SamplefsNodeEngine::status() {
  Status status;
  const IndexPtr index = files_->current();
  if (index->generation() > 0) {
    status.index = Status::Index{.generation = number(index->generation()),
                                 .digest = index->digest(),
                                 .files = number(index->totals().files),
                                 .bytes = number(index->totals().bytes),
                                 .synced = number(index->synced()),
                                 .left_out = left_out_of(*index)};
  }
  const auto cached = cached_.last();
  status.cached_files = cached.files;
  status.cached_bytes = cached.bytes;
  const data::StoreStats stats = store_->stats();
  status.limit = number(stats.limit);
  status.remark = remark_of(stats);
  status.source_error = sources_.trouble();
  {
    Lock lock(damage_mutex_);
    if (!damage_.empty()) status.remark += (status.remark.empty() ? "" : "; ") + damage_;
  }
  if (const auto disk = disk_of(options_.cache)) {
    status.disk_size = number(disk->size);
    status.disk_avail = number(disk->avail);
    status.disk_used = number(disk->size - std::min(disk->avail, disk->size));
  }
  const data::ReadCounters reads = data_->counters();
  status.from_cache = number(reads.from_cache);
  status.from_memory = number(reads.from_memory);
  status.from_source = number(reads.from_source);
  status.downloaded = number(reads.downloaded);
  status.mounts = sessions_->count();
  return status;
}

}  // namespace paddle::engine::samplefs
