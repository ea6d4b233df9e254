// SPDX-License-Identifier: Apache-2.0
//
// The mounts that a runtime serves, by name, each on a connection that the node holds and attached
// here (fuse/attach.h). A later attachment of a name replaces the earlier one; the same connection
// once more (its answer was lost) goes on as it is.
//
// A kernel says INIT once. When a predecessor has answered it and died before the node heard of it,
// nobody can tell a successor what was agreed on; so it is written down as well. On one machine
// every mount agrees on the same.
//
// A kernel keeps names and listings for as long as it is not told otherwise. Each mount is told
// what differs between the generation that it was told of last (announced_generations.h) and the
// current one: by announce(), and when it is attached. The latter is for what a predecessor
// published and did not live to announce, and for what was published while nobody served the mount.
//
// Thread-safe. The file system and the metrics outlive it.

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/samplefs/node/announced_generations.h"
#include "fuse/attach.h"
#include "fuse/session.h"
#include "samplefs/sample_files.h"

namespace paddle::engine::samplefs {

class Sessions {
 public:
  // `directory`: where the files `agreed` and `told` are.
  Sessions(::paddle::samplefs::SampleFiles& files, Metrics& metrics, const std::string& directory,
           std::chrono::milliseconds read_limit)
      : files_(files),
        metrics_(metrics),
        negotiated_file_(directory + "/agreed"),
        read_limit_(read_limit),
        announced_(directory + "/told") {}
  // Takes no more requests and finishes those at work. Mounts stay as they are.
  ~Sessions();

  // For AttachServer; returns when INIT was answered or taken over.
  Result<fuse::Negotiated> attach(fuse::Attachment attachment) EXCLUDES(mutex_);

  // Lets every kernel forget what is another in the current generation.
  void announce() EXCLUDES(mutex_);
  std::int64_t count() const EXCLUDES(mutex_);  // being served

 private:
  class Served;
  using ServedPtr = std::shared_ptr<Served>;

  struct Started {
    std::unique_ptr<fuse::Session> session{};
    fuse::Negotiated agreed{};
  };
  ServedPtr find(const std::string& name) const EXCLUDES(mutex_);
  void retire(const std::string& name) EXCLUDES(mutex_);
  Result<Started> start(std::vector<UniqueFd> channels,
                        const std::optional<fuse::Negotiated>& resumed,
                        const std::stop_token& stop);
  void announce_to(const std::string& name, const Served& served);
  void save_negotiated(const fuse::Negotiated& agreed) const;
  std::optional<fuse::Negotiated> saved_negotiated() const;

  ::paddle::samplefs::SampleFiles& files_;
  Metrics& metrics_;
  const std::string negotiated_file_;
  const std::chrono::milliseconds read_limit_;
  AnnouncedGenerations announced_;  // self-synchronised
  mutable Mutex mutex_;
  std::map<std::string, ServedPtr> served_ GUARDED_BY(mutex_);
  std::vector<std::jthread> retiring_ GUARDED_BY(mutex_);  // replaced ones, on their way out
};

}  // namespace paddle::engine::samplefs
