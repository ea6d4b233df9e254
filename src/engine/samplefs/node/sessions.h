// SPDX-License-Identifier: Apache-2.0
//
// The mounts that a runtime serves, by name. The node holds the connection of each mount and
// attaches it here (fuse/attach.h). A later attachment replaces the earlier one of its name; the
// same connection again (because the reply was lost) continues as it is.
//
// INIT happens once per connection. A process may answer it and end before the node knows the
// negotiated parameters, so they are stored in a file for the next process. On one machine they are
// the same for every mount.
//
// A kernel keeps names and listings until they are invalidated. Each mount gets invalidations for
// what differs between the generation that was last announced to it (announced_generations.h) and
// the current one: by announce(), and when it is attached. The latter covers what a previous
// process published but did not announce, and what was published while no process served the mount.
//
// Thread-safe. The file system and the metrics outlive it.

#pragma once

#include <atomic>
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
  // `directory`: of the files `agreed` and `told`.
  Sessions(::paddle::samplefs::SampleFiles& files, Metrics& metrics, const std::string& directory,
           std::chrono::milliseconds read_limit)
      : files_(files),
        metrics_(metrics),
        negotiated_file_(directory + "/agreed"),
        read_limit_(read_limit),
        announced_(directory + "/told") {}
  // Accepts no more requests and finishes those in progress. Mounts stay mounted.
  ~Sessions();

  // For AttachServer; returns when INIT was answered or the negotiated parameters were taken over.
  Result<fuse::Negotiated> attach(fuse::Attachment attachment) EXCLUDES(mutex_);

  // Invalidates in every kernel what has changed in the current generation.
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
  // Replaced sessions that are ending. The thread is joined when the next one is replaced.
  struct Retiring {
    std::shared_ptr<std::atomic<bool>> ended{};
    std::jthread thread{};
  };
  std::vector<Retiring> retiring_ GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
