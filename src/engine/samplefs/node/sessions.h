// SPDX-License-Identifier: Apache-2.0
//
// The mounts that a runtime serves, by name, each on a connection that the node holds and attached
// here (fuse/attach.h). A later attachment of a name replaces the earlier one; the same connection
// once more (its answer was lost) goes on as it is.
//
// Thread-safe. The file system and the metrics outlive it.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/samplefs/node/changes.h"
#include "fuse/attach.h"
#include "fuse/session.h"

namespace paddle::engine::samplefs {

class Sessions {
 public:
  Sessions(::paddle::samplefs::FileSystem& files, Metrics& metrics)
      : files_(files), metrics_(metrics) {}
  // Takes no more requests and finishes those at work. Mounts stay as they are.
  ~Sessions();

  // For AttachServer; returns when INIT was answered or taken over.
  Result<fuse::Negotiated> attach(fuse::Attachment attachment) EXCLUDES(mutex_);

  // Lets every kernel forget what has changed.
  void forget(const Changes& changes) EXCLUDES(mutex_);
  std::int64_t count() const EXCLUDES(mutex_);  // being served

 private:
  class Served;
  using ServedPtr = std::shared_ptr<Served>;

  ServedPtr find(const std::string& name) const EXCLUDES(mutex_);

  ::paddle::samplefs::FileSystem& files_;
  Metrics& metrics_;
  mutable Mutex mutex_;
  std::map<std::string, ServedPtr> served_ GUARDED_BY(mutex_);
  std::vector<std::jthread> retiring_ GUARDED_BY(mutex_);  // replaced ones, on their way out
};

}  // namespace paddle::engine::samplefs
