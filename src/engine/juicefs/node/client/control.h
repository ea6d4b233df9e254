// SPDX-License-Identifier: Apache-2.0
//
// The JuiceFS client behind a mount: the one that trainers read through, so what it is told to
// cache is what they find. Every call opens the client's control file; closing it ends what was
// asked for, so a call that is stopped leaves no work behind. Thread-safe.
//
//   kUnavailable   nothing is mounted there (any more), or its client was restarted meanwhile
//   kNotFound      no such path

#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/juicefs/node/command/control_message.h"

namespace paddle::engine::juicefs {

class Control {
 public:
  // `alive` hears whenever the client has answered a call, if only that it has nothing yet.
  explicit Control(std::string mount, std::function<void()> alive = {})
      : mount_(std::move(mount)), alive_(std::move(alive)) {}

  using Sink = std::function<void(std::int64_t files, std::int64_t bytes)>;

  // All of `paths`, in messages of a bounded number; `tell` counts over all of them.
  Result<CacheUsage> cache(CacheAction action, const std::vector<std::string>& paths,
                           std::uint16_t threads, const Sink& report, std::stop_token stop) const;
  // `strict` counts every file; otherwise JuiceFS's own counts of directories are summed up.
  Result<VolumeTotals> totals(bool strict, std::stop_token stop) const;
  // A path relative to the root of the mount, with everything beneath; links on the way to it are
  // not followed. kInvalid: it is in another file system, or no name in a volume is that long.
  Result<> remove(const std::string& path, bool skip_trash, const Sink& report,
                  std::stop_token stop) const;

  // The files `.stats` and `.config` of the mount.
  Result<std::string> stats() const;
  Result<std::string> config() const;

 private:
  Result<ControlAnswer> exchange(const std::string& request, const Sink& report,
                                 const std::stop_token& stop) const;
  // `again` becomes true when it had to be asked more than once.
  Result<std::string> ask(const std::string& request, const Sink& report,
                          const std::stop_token& stop, bool* again = nullptr) const;
  Result<std::string> read(const char* file) const;

  const std::string mount_;
  const std::function<void()> alive_;
};

}  // namespace paddle::engine::juicefs
