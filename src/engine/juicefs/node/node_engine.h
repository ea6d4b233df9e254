// SPDX-License-Identifier: Apache-2.0
//
// The node engine of JuiceFS, over a volume that the CSI driver has mounted. `juicefs sync` brings
// data in; it writes to the volume without a mount, so that the node that syncs caches nothing. The
// client of the mount does everything that concerns the cache (control.h): trainers on this node
// read through it. In the state directory:
//
//   jobs/     the runtime's journal (runtime/server)
//   lists/    the files of each part of warm-ups and syncs (list_store.h)

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/juicefs/node/client/control.h"
#include "engine/juicefs/node/client/usage_poller.h"
#include "engine/juicefs/node/lists/list_store.h"
#include "engine/juicefs/node/sync/shared_sync.h"
#include "engine/node_engine.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {

struct NodeOptions {
  std::string program = "/usr/local/bin/juicefs";
  std::string source{};  // of the set; empty: none
  std::string source_secret{};
  std::string volume_secret{};
  std::string data{};          // where the volume, or its sub_dir, is mounted
  std::string sub_dir{};       // the set is this directory of the volume; empty: all of it
  std::int64_t cache_mib = 0;  // the most that the client behind the mount may cache
  std::string state{};         // directory; must exist
  ListFetcher fetch{};
};

class JuicefsNodeEngine final : public NodeEngine {
 public:
  // The volume need not be mounted yet. kUnavailable: the state directory cannot be used.
  static Result<std::unique_ptr<JuicefsNodeEngine>> open(const NodeOptions& options);

  std::string name() const override { return "juicefs"; }
  Result<> run(const JobRequest& job, const ProgressSink& report, std::stop_token stop) override;
  Result<std::string> list_for(const std::string& job, std::int32_t partition) override;
  Status status() override { return usage_.status(); }

  // What run() calls.
  Result<> sync(const SyncTask& task, const ProgressSink& report, std::stop_token stop);
  Result<> warm_up(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> clear(const Selection& which, const ProgressSink& report, std::stop_token stop);
  Result<> remove(const Selection& which, const ProgressSink& report, std::stop_token stop);

 private:
  JuicefsNodeEngine(const NodeOptions& options, ListStore lists)
      : options_(options),
        lists_(std::move(lists)),
        control_(options.data, kClientCallStandstill),
        usage_(options.data, options.cache_mib << 20) {}

  Result<std::vector<std::string>> part_for(const Selection& which, const ProgressSink& report,
                                            const std::stop_token& stop);
  Result<std::vector<std::string>> derive(const Selection& which, const ProgressSink& report,
                                          const std::stop_token& stop);
  Result<> make_lists(const Selection& which, const ProgressSink& report,
                      const std::stop_token& stop);

  Result<CacheUsage> check(const std::vector<std::string>& paths, std::uint16_t threads,
                           const std::stop_token& stop) const;
  // An error when the user's list names files that do not exist. `seen`: what the client found of
  // `files`.
  Result<> expect_listed(const Selection& which, const std::vector<std::string>& files,
                         const CacheUsage& seen, const std::stop_token& stop) const;
  // An error when the client does not find existing files, also not when it checks again.
  Result<> expect_found(const std::vector<std::string>& files, std::uint16_t threads,
                        CacheUsage& seen, const std::stop_token& stop) const;

  Result<> sync_from(const SyncContext& context, const SyncTask& task, const ProgressSink& report,
                     const std::stop_token& stop);
  // Removes what an interrupted sync left of files that are `ours`.
  void remove_leftovers(WallTime before, const std::function<bool(const std::string&)>& ours,
                        const std::stop_token& stop) const;
  struct RemovedFiles {
    std::int64_t files = 0;
    std::int64_t younger = 0;  // newer than the removal: they stay
  };
  Result<RemovedFiles> remove_one(const std::string& path, const Selection& which,
                                  const Control::Sink& report, const std::stop_token& stop) const;

  const NodeOptions options_;
  const ListStore lists_;
  const Control control_;
  UsagePoller usage_;
};

}  // namespace paddle::engine::juicefs
