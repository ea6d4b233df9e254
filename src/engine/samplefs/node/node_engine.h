// SPDX-License-Identifier: Apache-2.0
//
// samplefs on one node: source, index, store and mounts as one engine. In the cache directory:
//
//   store/               the blocks (samplefs/store.h)
//   index.<generation>   what there is (index_files.h)
//   agreed               what mounts and kernel agreed on (sessions.h)
//   jobs/                the runtime's journal (runtime/server)
//
// It opens without the source: what was indexed and cached before is served at once, and before the
// first sync a mount shows an empty root. A sync makes a new generation, switches to it and drops
// blocks that it has no use for. Reads that miss the cache ask the source.

#pragma once

#include <memory>
#include <string>

#include "base/metrics.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/engine.h"
#include "engine/samplefs/node/cached_part.h"
#include "engine/samplefs/node/index_files.h"
#include "engine/samplefs/node/live_source.h"
#include "engine/samplefs/node/sessions.h"
#include "fuse/attach.h"
#include "samplefs/read_through.h"
#include "samplefs/sample_files.h"
#include "samplefs/store.h"

namespace paddle::engine::samplefs {

struct NodeOptions {
  SourceOptions source{};
  std::string cache{};          // directory; has to be there
  std::uint64_t cache_mib = 0;  // 0: what the disk has
};

class NodeEngine final : public NodeFace {
 public:
  // The metrics outlive it. kConflict: another process has that cache; kUnavailable: its directory
  // can not be used.
  static Result<std::unique_ptr<NodeEngine>> open(const NodeOptions& options, Metrics& metrics);
  ~NodeEngine() override;  // ends reads in progress; mounts stay as they are

  std::string name() const override { return "samplefs"; }
  Result<> sync(const SyncTask& task, const ProgressSink& tell, std::stop_token stop) override;
  Result<> warm_up(const Selection& which, const ProgressSink& tell, std::stop_token stop) override;
  Result<> clear(const Selection& which, const ProgressSink& tell, std::stop_token stop) override;
  Result<> remove(const Selection& which, const ProgressSink& tell, std::stop_token stop) override;
  Status status() override;

  Result<fuse::Negotiated> attach(fuse::Attachment attachment) {
    return sessions_->attach(std::move(attachment));
  }

 private:
  explicit NodeEngine(const NodeOptions& options)
      : options_(options), files_on_disk_(options.cache), source_(options.source) {}

  const NodeOptions options_;
  const IndexFiles files_on_disk_;
  LiveSource source_;
  std::unique_ptr<::paddle::samplefs::Store> store_;
  std::unique_ptr<::paddle::samplefs::ReadThrough> data_;
  std::unique_ptr<::paddle::samplefs::SampleFiles> files_;
  std::unique_ptr<Sessions> sessions_;
  CachedPart cached_;  // self-synchronised
};

}  // namespace paddle::engine::samplefs
