// SPDX-License-Identifier: Apache-2.0
//
// One mount of a sample set on this machine, served by a runtime that may come, die and come back.
// A thread waits for a runtime in the session directory, mounts, hands it the connection, and when
// it is gone hands the same connection to its successor: readers wait meanwhile, no read fails.
//
// Until a runtime has answered for the first time nothing is mounted, so nobody can get stuck on
// it. The descriptors are held here for as long as the mount lives. The destructor unmounts;
// whoever still reads then gets an error. Thread-safe.

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
  // `name` is what the runtime knows the mount by.
  ServedMount(std::string point, std::string session, std::string name, const Clock& clock);
  ~ServedMount();

  const std::string& point() const { return point_; }
  // Done once the files can be seen; the reason why not yet otherwise (kUnavailable).
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

  // Only the thread's, and the destructor's after it.
  fuse::Mounted mounted_{};
  std::vector<UniqueFd> clones_{};
  std::optional<fuse::Negotiated> agreed_{};

  mutable Mutex mutex_;
  bool ready_ GUARDED_BY(mutex_) = false;
  std::string why_not_ GUARDED_BY(mutex_){"nobody listens yet"};

  std::jthread thread_;
};

}  // namespace paddle::local
