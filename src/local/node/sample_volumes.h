// SPDX-License-Identifier: Apache-2.0
//
// The volumes of sample sets on this machine (docs/design/0006), by the volume's handle:
//
//   <directory>/mounts/<handle>            where FUSE serves the set
//   <directory>/targets/<handle>/<user>    what a pod mounts (sealed_volume.h)
//   <directory>/views/<handle>/<n>         its sealed views
//   <directory>/sessions/<handle>          the session directory of node and runtime
//   <path>/<handle>                        a cache of the runtime, recorded in
//                                          <directory>/caches/<handle>
//
// All partitions of a set are on this machine. The runtime of the first partition serves the mount;
// the runtime of partition <i> has its session in <directory>/sessions/<handle>/<i> and its cache
// in <path>/<handle>.<i>.
//
// Each use names its user (a pod's uid); release() ends all uses of a user. A mount is removed with
// its last user; caches and sessions are removed by collect() when their volume no longer exists
// and they have no user. Only directories that were created or found empty here are removed.
// Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "local/node/pod_spec.h"
#include "local/node/sealed_volume.h"
#include "local/node/served_mount.h"

namespace paddle::local {

class SampleVolumes {
 public:
  // Removes mounts that an earlier node left in the directory. `seals`: pods read complete sets
  // through sealed views where that is possible.
  SampleVolumes(std::string directory, std::string cache_root, const Clock& clock,
                bool seals = true);
  ~SampleVolumes();

  // Returns what the pod mounts. kUnavailable until the runtime (`server` in the message) serves
  // it.
  Result<std::string> mount(const std::string& handle, const std::string& server,
                            const std::string& user) EXCLUDES(mutex_);
  Result<std::string> place(const RuntimeVolume& volume, const std::string& user, int partition = 0)
      EXCLUDES(mutex_);
  void release(const std::string& user) EXCLUDES(mutex_);

  // False: a process still uses something of a volume that is gone; call it again later.
  bool collect(const std::set<std::string>& existing) EXCLUDES(mutex_);
  // Ends FUSE at once: current readers get an error. Sealed views end with this object.
  void end() EXCLUDES(mutex_);

  // Makes the segments of caches changeable again that a node which was killed has left sealed.
  // kConflict while a process still reads them. REQUIRES: no node uses the directory.
  static Result<> lift_leftovers(const std::string& directory);

 private:
  Result<std::string> place_cache(const RuntimeVolume& volume, int partition) REQUIRES(mutex_);
  Result<std::string> session_of(const std::string& handle, int partition = 0);
  std::string record_of(const std::string& handle) const;
  SetCaches caches_of(const std::string& handle) const;
  SealedVolume& sealed_volume(const std::string& handle) REQUIRES(mutex_);
  bool remove_volume(const std::string& handle) REQUIRES(mutex_);

  const std::string directory_;
  const std::string cache_root_;
  const Clock& clock_;
  const bool seals_;

  Mutex mutex_;
  std::map<std::string, std::set<std::string>> users_ GUARDED_BY(mutex_);    // of a handle
  std::map<std::string, std::set<std::string>> readers_ GUARDED_BY(mutex_);  // of a mount
  std::map<std::string, std::unique_ptr<ServedMount>> mounts_ GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<SealedVolume>> sealed_ GUARDED_BY(mutex_);
};

}  // namespace paddle::local
