// SPDX-License-Identifier: Apache-2.0
//
// The node engine of samplefs: sources, index, store and mounts. In the cache directory:
//
//   store/               blocks: the first tier (samplefs/store)
//   index.<generation>   indexes (index_files.h)
//   agreed               parameters negotiated with the kernel (sessions.h)
//   told                 the generation last announced to each mount (announced_generations.h)
//   jobs/                the runtime's journal (runtime/server)
//
// Keys of sources that jobs added are in a directory in memory (sources/source_keys.h).
//
// A generation that is complete here is offered to the node for a sealed view, in the session
// directory (generation_offer.h). A job that publishes another generation or drops blocks withdraws
// the offer first, and returns when the node has followed.
//
// It opens without the source: what was indexed and cached is served at once, and before the first
// sync a mount shows an empty root. Reads that miss the cache read from the source of their file.
//
// A sync or a removal derives the next generation from the one that is current when it publishes
// (samplefs/merge.h), and stores its job id in it: the same job again finds its id and changes
// nothing. A generation is published by a rename, so a kill leaves the previous or the new one.
//
// When the latest index is damaged, the one before is shown, or of the damaged one what can still
// be read; status() says so until a sync publishes a sound one. Nothing is derived from a damaged
// index.
//
// A removal drops the blocks that the new generation does not need. A sync also keeps those of the
// previous generation, for open files that have another version at the source now, until the room
// is needed.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/node_engine.h"
#include "engine/samplefs/node/cache_coverage.h"
#include "engine/samplefs/node/generation_offer.h"
#include "engine/samplefs/node/index_files.h"
#include "engine/samplefs/node/sessions.h"
#include "engine/samplefs/node/sources/source_set.h"
#include "fuse/attach.h"
#include "samplefs/index_builder.h"
#include "samplefs/read_through.h"
#include "samplefs/sample_files.h"
#include "samplefs/store/store.h"

namespace paddle::engine::samplefs {

// A directory for blocks.
struct CacheDirectory {
  std::string path{};     // must exist
  std::uint64_t mib = 0;  // 0: what the disk has
  bool operator==(const CacheDirectory&) const = default;
};

struct NodeOptions {
  SourceOptions source{};
  std::string cache{};                       // directory; must exist
  std::uint64_t cache_mib = 0;               // 0: what the disk has
  std::vector<CacheDirectory> next_tiers{};  // after it, in their order
  std::string state{};                       // everything but blocks; empty: cache
  std::string keys{};                        // directory in memory (source_keys.h)
  std::string session{};                     // shared with the node; empty: no sealed views
  std::chrono::milliseconds read_limit = fuse::kReadLimit;  // timeout of a read from a source
  std::uint64_t in_flight = ::paddle::samplefs::ReadThrough::kBytesInFlight;  // of memory
  std::uint64_t scrub_rate = ::paddle::samplefs::Store::kScrubRate;  // bytes a second; 0: none
};

// The disk of a cache.
struct Disk {
  std::uint64_t size = 0;
  std::uint64_t avail = 0;   // to this process
  std::uint64_t cached = 0;  // used by the cache already
};

struct CacheLimit {
  std::uint64_t bytes = 0;
  std::string notice{};  // one sentence when it is less than requested
};

// How many bytes of its disk a cache may use. `wanted_mib` 0: 90 % of what is free or used by the
// cache. More than the disk can hold is clipped.
CacheLimit cache_limit(std::uint64_t wanted_mib, const Disk& disk);

class SamplefsNodeEngine final : public NodeEngine {
 public:
  // The metrics outlive it. kConflict: another process uses that cache; kUnavailable: its directory
  // cannot be used.
  static Result<std::unique_ptr<SamplefsNodeEngine>> open(const NodeOptions& options,
                                                          Metrics& metrics);
  ~SamplefsNodeEngine() override;  // ends reads in progress; mounts stay mounted

  std::string name() const override { return "samplefs"; }
  Result<> run(const JobRequest& job, const ProgressSink& report, std::stop_token stop) override;
  Status status() override;

  // What run() calls.
  Result<> sync(const SyncTask& task, const ProgressSink& report, std::stop_token stop);
  Result<> warm_up(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> clear(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> remove(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> verify(const Selection& which, const ProgressSink& report, std::stop_token stop);

  Result<fuse::Negotiated> attach(fuse::Attachment attachment) {
    return sessions_->attach(std::move(attachment));
  }

 private:
  explicit SamplefsNodeEngine(const NodeOptions& options)
      : options_(options), files_on_disk_(options.state), sources_(options.source, options.keys) {}

  void measure() EXCLUDES(measuring_);
  void keep_measuring(const std::stop_token& stop) EXCLUDES(measuring_);
  // Offers the current generation if the cache has all of it; withdraws what is not so any more.
  void renew_offer();

  // Publishes the next generation; all readers see it when this returns.
  Result<> publish(const std::string& job, bool is_sync, ::paddle::samplefs::IndexBuilder& next)
      REQUIRES(changing_);
  // The latest generation whose index is whole, to derive from; null when there is none.
  IndexPtr sound_base() const;
  // Reads the current index in the background.
  void verify_current();
  void drop_unreferenced_blocks() REQUIRES(changing_);
  // Drops blocks that only the previous generation needs, if the files do not fit otherwise.
  void make_room_for(const ::paddle::samplefs::Index& index,
                     const std::vector<::paddle::samplefs::Index::Position>& files)
      EXCLUDES(changing_);
  Result<std::vector<::paddle::samplefs::Index::Position>> select(
      const ::paddle::samplefs::Index& index, const Selection& which);

  const NodeOptions options_;
  const IndexFiles files_on_disk_;
  SourceSet sources_;  // self-synchronised
  std::unique_ptr<::paddle::samplefs::Store> store_;
  std::unique_ptr<::paddle::samplefs::ReadThrough> data_;
  std::unique_ptr<::paddle::samplefs::SampleFiles> files_;
  std::unique_ptr<Sessions> sessions_;
  CacheCoverage cached_;                    // self-synchronised
  std::unique_ptr<GenerationOffer> offer_;  // self-synchronised; null without a session
  Mutex measuring_;                         // one walk at a time

  // Held while a generation is derived from the current one, and while blocks are dropped.
  Mutex changing_;
  IndexPtr before_ GUARDED_BY(changing_);           // its blocks are kept, too
  std::uint64_t latest_ GUARDED_BY(changing_) = 0;  // number of the latest generation

  mutable Mutex damage_mutex_;
  std::string damage_ GUARDED_BY(damage_mutex_);  // one sentence; empty: none

  // Last: they use the rest.
  std::jthread measurer_;
  std::jthread verifier_;
  std::jthread prober_;
};

}  // namespace paddle::engine::samplefs
