// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/node_engine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/statvfs.h>

#include "base/log.h"
#include "engine/samplefs/node/cache_limit.h"
#include "engine/samplefs/node/selection.h"
#include "samplefs/filler.h"
#include "samplefs/store_files.h"
#include "samplefs/sync.h"

namespace paddle::engine::samplefs {
namespace {

namespace data = ::paddle::samplefs;

constexpr std::uint64_t kTellEvery = 1000;  // objects of a listing
constexpr std::chrono::milliseconds kTellPause{250};

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

Result<Disk> disk_of(const std::string& directory) {
  struct statvfs seen {};
  if (::statvfs(directory.c_str(), &seen) != 0) {
    return Error{Code::kUnavailable, "the cache directory '" + directory +
                                         "' can not be used: " + std::strerror(errno)};
  }
  return Disk{.size = seen.f_blocks * seen.f_frsize, .avail = seen.f_bavail * seen.f_frsize};
}

std::uint64_t taken(const std::string& store) {
  const UniqueFd root(::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return 0;
  std::uint64_t bytes = 0;
  const auto walked = data::for_each_block(root.get(), [&](const auto&, std::uint64_t size) {
    bytes += (size + 4095) / 4096 * 4096;
    return true;
  });
  return walked ? bytes : 0;
}

// The listing of another source, counted as it goes by.
class CountedListing final : public source::Source {
 public:
  CountedListing(source::Source& source, const ProgressSink& tell) : source_(source), tell_(tell) {}

  Result<source::Listed> list(const source::ObjectSink& sink, std::stop_token stop) override {
    Progress progress;
    auto listed = source_.list(
        [&](source::Object&& object) -> Result<> {
          ++progress.files_done;
          progress.bytes_done += number(object.size);
          if (static_cast<std::uint64_t>(progress.files_done) % kTellEvery == 0) tell_(progress);
          return sink(std::move(object));
        },
        std::move(stop));
    tell_(progress);
    return listed;
  }
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, std::stop_token stop) override {
    return source_.read(path, etag, offset, into, std::move(stop));
  }

 private:
  source::Source& source_;
  const ProgressSink& tell_;
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

std::vector<data::BlockKey> blocks_of(const data::Index& index,
                                      const std::vector<data::Index::Position>& files) {
  std::vector<data::BlockKey> keys;
  for (const auto position : files) {
    const auto entry = index.at(position);
    const std::string path = index.path_of(position);
    for (std::uint64_t at = 0; at < entry.size; at += data::kBlockSize) {
      keys.push_back(data::block_at(path, entry.etag, entry.size, at).key);
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

Result<std::unique_ptr<NodeEngine>> NodeEngine::open(const NodeOptions& options, Metrics& metrics) {
  std::unique_ptr<NodeEngine> engine(new NodeEngine(options));
  TRY(Disk disk, disk_of(options.cache));
  const std::string store = options.cache + "/store";
  // A walk over all blocks, so only when it matters.
  if (options.cache_mib == 0 || (options.cache_mib << 20) > disk.avail) disk.cached = taken(store);
  const CacheLimit limit = cache_limit(options.cache_mib, disk);
  if (!limit.notice.empty()) log::warn(limit.notice);
  auto opened = data::Store::open({.directory = store, .limit = limit.bytes});
  if (!opened) return std::move(opened).error().in("cache '" + options.cache + "'");
  engine->store_ = *std::move(opened);
  TRY(const std::vector<IndexPtr> indices, engine->files_on_disk_.open());
  engine->data_ = std::make_unique<data::ReadThrough>(engine->store_.get(), engine->source_);
  engine->files_ = std::make_unique<data::SampleFiles>(indices.front(), *engine->data_);
  for (std::size_t i = 1; i < indices.size(); ++i) engine->files_->switch_to(indices[i]);
  engine->sessions_ =
      std::make_unique<Sessions>(*engine->files_, metrics, options.cache + "/agreed");
  log::info("cache opened", {{"directory", options.cache},
                             {"limit_mib", limit.bytes >> 20},
                             {"blocks", engine->store_->stats().blocks},
                             {"generation", engine->files_->current()->generation()}});
  return engine;
}

NodeEngine::~NodeEngine() {
  if (files_) files_->stop();
  sessions_.reset();
}

Result<> NodeEngine::sync(const SyncTask& task, const ProgressSink& tell, std::stop_token stop) {
  if (task != SyncTask{}) {
    return Error{Code::kInvalid,
                 "samplefs syncs a set from its own source as a whole in this version; leave the "
                 "sync options out"};
  }
  const IndexPtr before = files_->current();
  const std::uint64_t generation = before->generation() + 1;
  CountedListing counted(source_, tell);
  TRY(const IndexPtr index,
      data::sync_index(counted, files_on_disk_.file(generation), generation, std::move(stop)));
  files_->switch_to(index);
  sessions_->forget(changes_between(*before, *index));
  store_->keep_only(data::all_blocks(*index));
  files_on_disk_.prune(generation);
  const auto totals = index->totals();
  tell({.files_total = number(totals.files),
        .files_done = number(totals.files),
        .bytes_total = number(totals.bytes),
        .bytes_done = number(totals.bytes)});
  log::info("new generation", {{"generation", generation},
                               {"files", totals.files},
                               {"bytes", totals.bytes},
                               {"left_out", index->left_out()}});
  return Done{};
}

Result<> NodeEngine::warm_up(const Selection& which, const ProgressSink& tell,
                             std::stop_token stop) {
  const IndexPtr index = files_->current();
  if (index->generation() == 0) {
    return Error{Code::kConflict, "there is nothing to warm up before the first sync"};
  }
  TRY(std::vector<data::Index::Position> files, select_files(*index, which));
  data::Filler filler(index, std::move(files), *data_);
  Result<> done = Done{};
  {
    const std::jthread telling([&](const std::stop_token& end) {
      do {
        tell(progress_of(filler.progress()));
      } while (system_clock().sleep(kTellPause, end));
    });
    done = filler.run(std::move(stop));
  }
  const data::FillProgress fill = filler.progress();
  tell(progress_of(fill));
  cached_.look_again();
  // A sync has come in between: what it had dropped may have been brought back.
  if (const IndexPtr now = files_->current(); now != index) {
    store_->keep_only(data::all_blocks(*now));
  }
  CHECK_DONE(std::move(done));
  if (fill.files_failed == 0) return Done{};
  return Error{Code::kUnavailable,
               std::to_string(fill.files_failed) + " of " + std::to_string(fill.files_total) +
                   " files could not be brought into the cache, the first: " + fill.first_error};
}

Result<> NodeEngine::clear(const Selection& which, const ProgressSink& tell, std::stop_token) {
  const IndexPtr index = files_->current();
  TRY(const std::vector<data::Index::Position> files, select_files(*index, which));
  std::vector<data::BlockKey> kept;
  if (files.size() < index->totals().files) {
    const auto all = data::all_blocks(*index);
    const auto gone = blocks_of(*index, files);
    std::set_difference(all.begin(), all.end(), gone.begin(), gone.end(), std::back_inserter(kept));
  }
  store_->keep_only(kept);
  cached_.look_again();
  tell({.files_total = number(files.size()), .files_done = number(files.size())});
  return Done{};
}

Result<> NodeEngine::remove(const Selection&, const ProgressSink&, std::stop_token) {
  return Error{Code::kInvalid,
               "samplefs can not hide files of a set yet; remove them at the source and sync"};
}

Status NodeEngine::status() {
  Status status;
  const IndexPtr index = files_->current();
  if (index->generation() > 0) {
    status.index = Status::Index{.generation = number(index->generation()),
                                 .digest = index->digest(),
                                 .files = number(index->totals().files),
                                 .bytes = number(index->totals().bytes)};
  }
  const auto cached = cached_.of(index, *store_);
  status.cached_files = cached.files;
  status.cached_bytes = cached.bytes;
  status.limit = number(store_->stats().limit);
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
