// SPDX-License-Identifier: Apache-2.0
//
// samplefs on one node: sources, index, store and mounts as one engine. In the cache directory:
//
//   store/               the blocks (samplefs/store.h)
//   index.<generation>   what there is (index_files.h)
//   keys/                of sources that jobs brought (source_keys.h)
//   agreed               what mounts and kernel agreed on (sessions.h)
//   told                 which generation each mount was told of last (announced_generations.h)
//   jobs/                the runtime's journal (runtime/server)
//
// It opens without the source: what was indexed and cached before is served at once, and before the
// first sync a mount shows an empty root. Reads that miss the cache ask the source of their file.
//
// A sync or a removal makes the next generation from the one that is current when it publishes
// (samplefs/merge.h), and writes its id into it: the same job again finds itself there and changes
// nothing. A generation is published by a rename, so a kill leaves the one before or the new one.
//
// A removal drops the blocks that the new generation does not need. A sync keeps those of the
// generation before as well, for files that are open and have another version at the source now,
// until somebody else needs the room.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/node_engine.h"
#include "engine/samplefs/node/cache_coverage.h"
#include "engine/samplefs/node/index_files.h"
#include "engine/samplefs/node/sessions.h"
#include "engine/samplefs/node/source_set.h"
#include "fuse/attach.h"
#include "samplefs/index_builder.h"
#include "samplefs/read_through.h"
#include "samplefs/sample_files.h"
#include "samplefs/store.h"

namespace paddle::engine::samplefs {

struct NodeOptions {
  SourceOptions source{};
  std::string cache{};                                      // directory; has to be there
  std::uint64_t cache_mib = 0;                              // 0: what the disk has
  std::chrono::milliseconds read_limit = fuse::kReadLimit;  // of a read that needs a source
};

// The disk of a cache.
struct Disk {
  std::uint64_t size = 0;
  std::uint64_t avail = 0;   // to us, now
  std::uint64_t cached = 0;  // what the cache has of it already
};

struct CacheLimit {
  std::uint64_t bytes = 0;
  std::string notice{};  // one sentence when it is not what was asked for
};

// `wanted_mib` 0: 90 % of what is free or ours already. More than the disk can hold is clipped.
CacheLimit cache_limit(std::uint64_t wanted_mib, const Disk& disk);

class SamplefsNodeEngine final : public NodeEngine {
 public:
  // The metrics outlive it. kConflict: another process has that cache; kUnavailable: its directory
  // can not be used.
  static Result<std::unique_ptr<SamplefsNodeEngine>> open(const NodeOptions& options,
                                                          Metrics& metrics);
  ~SamplefsNodeEngine() override;  // ends reads in progress; mounts stay as they are

  std::string name() const override { return "samplefs"; }
  bool changes_in_order() const override { return true; }
  Result<> run(const JobRequest& job, const ProgressSink& report, std::stop_token stop) override;
  Status status() override;

  // What run() calls.
  Result<> sync(const SyncTask& task, const ProgressSink& report, std::stop_token stop);
  Result<> warm_up(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> clear(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> remove(const Selection& which, const ProgressSink& report, std::stop_token stop);

  Result<fuse::Negotiated> attach(fuse::Attachment attachment) {
    return sessions_->attach(std::move(attachment));
  }

 private:
  explicit SamplefsNodeEngine(const NodeOptions& options)
      : options_(options),
        files_on_disk_(options.cache),
        sources_(options.source, options.cache + "/keys") {}

  // The next generation, for all readers from the return on.
  Result<> publish(const std::string& job, bool is_sync, ::paddle::samplefs::IndexBuilder& next)
      REQUIRES(changing_);
  void drop_unreferenced_blocks() REQUIRES(changing_);
  // What only the generation before still needs goes when it stands in the way.
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
  CacheCoverage cached_;  // self-synchronised

  Mutex changing_;  // held while a generation is made from the current one, and blocks are dropped
  IndexPtr before_ GUARDED_BY(changing_);  // whose blocks are kept as well
};

}  // namespace paddle::engine::samplefs
