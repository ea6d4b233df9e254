// SPDX-License-Identifier: Apache-2.0
//
// One mount of a sample set on this machine, served by a runtime that may end and come back. A
// thread waits for a runtime in the session directory, mounts, attaches the connection to it, and
// when the runtime is gone attaches the same connection to its successor: readers wait meanwhile,
// no read fails.
//
// Nothing is mounted before a runtime answers for the first time, so that no process can block on
// the mount. This object holds the descriptors while the mount exists. The destructor unmounts;
// current readers get an error. Thread-safe.

#pragma once

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "base/unique_fd.h"
#include "fuse/attach.h"
#include "fuse/mount.h"

namespace paddle::local {

class ServedMount {
 public:
  // `name` identifies the mount for the runtime.
  ServedMount(std::string point, std::string session, std::string name, const Clock& clock);
  ~ServedMount();

  const std::string& point() const { return point_; }
  // Done once the files are visible; otherwise kUnavailable with the reason.
  Result<> ready() const EXCLUDES(mutex_);

 private:
  void run(std::stop_token stop);
  Result<> serve(std::stop_token stop);
  Result<> mount();
  void unmount();

  const std::string point_;
  const std::string session_;
  const std::string name_;
  const Clock& clock_;

  // Used by the thread, and by the destructor after it.
  fuse::Mounted mounted_{};
  std::vector<UniqueFd> clones_{};
  std::optional<fuse::Negotiated> agreed_{};

  mutable Mutex mutex_;
  bool ready_ GUARDED_BY(mutex_) = false;
  std::string why_not_ GUARDED_BY(mutex_){"no runtime listens yet"};

  std::jthread thread_;
};

}  // namespace paddle::local
