// SPDX-License-Identifier: Apache-2.0
//
// The volumes of sample sets on this machine (docs/design/0006), by the volume's handle:
//
//   <directory>/mounts/<handle>    the files of the set; one mount however many pods read it
//   <directory>/sessions/<handle>  where node and runtime meet
//   <path>/<handle>                a cache of the runtime's; recorded in
//                                  <directory>/caches/<handle>
//
// All partitions of a set are on this machine. The runtime of the first serves the mount; that of
// another, <i>, has its session in <directory>/sessions/<handle>/<i> and its cache in
// <path>/<handle>.<i>.
//
// Each use names its user (a pod's uid); release() ends all uses of one. A mount goes with its last
// user, caches and session when collect() is told that their volume exists no more and nobody uses
// them. Only directories that were made or found empty here are ever removed. Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "local/node/pod_spec.h"
#include "local/node/served_mount.h"

namespace paddle::local {

class SampleVolumes {
 public:
  // Mounts that an earlier node left in the directory are removed.
  SampleVolumes(std::string directory, std::string cache_root, const Clock& clock);
  ~SampleVolumes();

  // The path of the mount. kUnavailable until the runtime (called `server` in the sentence) serves.
  Result<std::string> mount(const std::string& handle, const std::string& server,
                            const std::string& user) EXCLUDES(mutex_);
  Result<std::string> place(const RuntimeVolume& volume, const std::string& user, int partition = 0)
      EXCLUDES(mutex_);
  void release(const std::string& user) EXCLUDES(mutex_);

  void collect(const std::set<std::string>& existing) EXCLUDES(mutex_);
  // Unmounts everything at once: whoever still reads gets an error.
  void end() EXCLUDES(mutex_);

 private:
  Result<std::string> place_cache(const RuntimeVolume& volume, int partition) REQUIRES(mutex_);
  Result<std::string> session_of(const std::string& handle, int partition = 0);
  std::string record_of(const std::string& handle) const;

  const std::string directory_;
  const std::string cache_root_;
  const Clock& clock_;

  Mutex mutex_;
  std::map<std::string, std::set<std::string>> users_ GUARDED_BY(mutex_);    // of a handle
  std::map<std::string, std::set<std::string>> readers_ GUARDED_BY(mutex_);  // of a mount
  std::map<std::string, std::unique_ptr<ServedMount>> mounts_ GUARDED_BY(mutex_);
};

}  // namespace paddle::local
