// SPDX-License-Identifier: Apache-2.0
//
// How the pods of this machine reach one sample set, and the sealed views that they read through
// while its cache is complete (docs/design/0016).
//
//   <mount>              where FUSE serves the set (served_mount.h)
//   <targets>/<user>     what one pod mounts: FUSE, bound, in a peer group of its own
//   <views>/<n>          a view, mounted aside
//
// A thread follows the offer of the runtime (sealed/offer/offer.h):
//
// - What is offered is built, which reads every byte, and then mounted over the targets of all
//   pods, while they read.
// - When the offer is withdrawn or replaced, FUSE is mounted over the view: who opens a file from
//   then on reads what the runtime serves now. Open files, mappings and working directories keep
//   the view, and so its bytes. Nothing is unmounted while a pod runs.
// - When a pod has ended, its target is unmounted. A view ends when no pod has it any more and the
//   kernel has given it up; until then its segments are immutable and take their space.
//
// Whatever fails, FUSE goes on, and the reason is in the session's file `view`; what failed is
// tried again later. Thread-safe. `mount` and the session outlive it.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "local/node/set_caches.h"

namespace paddle::local {

struct SealedVolumeOptions {
  std::string mount{};
  std::string session{};
  std::string targets{};
  std::function<SetCaches()> caches{};  // thread-safe
  const Clock& clock;
};

class SealedVolume {
 public:
  explicit SealedVolume(SealedVolumeOptions options);
  // Unmounts all targets, and ends the views that no process uses.
  ~SealedVolume();

  // The directory that a pod mounts. REQUIRES: FUSE serves the mount. The same user again gets the
  // same directory.
  Result<std::string> publish(const std::string& user) EXCLUDES(mutex_);
  // The pod has ended.
  void unpublish(const std::string& user) EXCLUDES(mutex_);
  // No target and no view is left.
  bool is_idle() const EXCLUDES(mutex_);

 private:
  using ViewPtr = std::unique_ptr<sealed::SealedView>;
  struct Target {
    std::string path{};
    int layers = 0;  // mounts over FUSE
  };
  struct Build {
    sealed::Offer offer{};
    std::optional<Result<ViewPtr>> result{};  // written before `done`
    std::atomic<bool> done{false};
    std::jthread thread{};
  };
  struct Failure {
    std::uint64_t offer = 0;  // its number
    BootTime until{};         // not tried again before
  };

  void run(const std::stop_token& stop);
  void step() EXCLUDES(mutex_);
  void unmount_targets() REQUIRES(mutex_);
  void forget(const Target& target) REQUIRES(mutex_);  // it was unmounted
  void end_views() REQUIRES(mutex_);
  void follow(const std::optional<sealed::Offer>& offer) REQUIRES(mutex_);
  void begin(const sealed::Offer& offer) REQUIRES(mutex_);
  void finish_build(const std::optional<sealed::Offer>& offer) REQUIRES(mutex_);
  void show(ViewPtr view, const sealed::Offer& offer) REQUIRES(mutex_);
  void show_at(Target& target) REQUIRES(mutex_);
  // False: some target still shows the view; to be tried again.
  bool cover(const std::string& why) REQUIRES(mutex_);
  void fail(const sealed::Offer& offer, const Error& error) REQUIRES(mutex_);
  bool report(bool sealed, std::uint64_t number, const std::string& reason) REQUIRES(mutex_);
  std::optional<sealed::Offer> read_offer() const;
  bool has_left() const REQUIRES(mutex_);  // targets or views

  const SealedVolumeOptions options_;
  sealed::ImmutableSegments holds_;  // self-synchronised

  mutable Mutex mutex_;  // held while views are mounted and unmounted, not while they are built
  CondVar wake_;
  std::map<std::string, Target> targets_ GUARDED_BY(mutex_);  // by user
  std::vector<Target> leaving_ GUARDED_BY(mutex_);            // in use a moment ago
  ViewPtr current_ GUARDED_BY(mutex_);
  std::optional<sealed::Offer> shown_ GUARDED_BY(mutex_);  // of current_
  std::vector<ViewPtr> former_ GUARDED_BY(mutex_);
  std::unique_ptr<Build> build_ GUARDED_BY(mutex_);
  Failure failure_ GUARDED_BY(mutex_){};
  bool lifted_ GUARDED_BY(mutex_) = false;  // what an earlier node left
  std::uint64_t views_made_ GUARDED_BY(mutex_) = 0;
  std::optional<sealed::ViewState> reported_ GUARDED_BY(mutex_);

  std::jthread thread_;  // last: it uses the rest
};

}  // namespace paddle::local
