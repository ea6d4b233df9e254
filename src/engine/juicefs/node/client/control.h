// SPDX-License-Identifier: Apache-2.0
//
// Calls the JuiceFS client behind a mount. Trainers read through the same client, so they find what
// it caches. Every call opens the client's control file; closing the file ends the client's work,
// so a stopped call leaves no work behind. Thread-safe.
//
// A client that hangs blocks the caller in the kernel, for ever. With a `standstill`, requests run
// on a thread of their own, which is left behind when the client has not answered for so long.
//
//   kUnavailable   nothing is mounted there (any more), the client was restarted during the call,
//                  or it hangs
//   kNotFound      no such path

#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/juicefs/node/command/control_message.h"

namespace paddle::engine::juicefs {

class Control {
 public:
  // `alive` is called whenever the client has answered, even if it has no result yet.
  explicit Control(std::string mount, std::function<void()> alive = {})
      : mount_(std::move(mount)), alive_(std::move(alive)) {}
  Control(std::string mount, std::chrono::milliseconds standstill)
      : mount_(std::move(mount)), standstill_(standstill) {}

  using Sink = std::function<void(std::int64_t files, std::int64_t bytes)>;

  // Sends `paths` in messages of bounded size; `report` gets the totals over all of them.
  Result<CacheUsage> cache(CacheAction action, const std::vector<std::string>& paths,
                           std::uint16_t threads, const Sink& report, std::stop_token stop) const;
  // `strict` counts every file; otherwise the sum of JuiceFS's own counts per directory.
  Result<VolumeTotals> totals(bool strict, std::stop_token stop) const;
  // Removes a path, relative to the root of the mount, with everything beneath. Links on the way
  // are not followed. kInvalid: the path is in another file system, or its name is too long.
  Result<> remove(const std::string& path, bool skip_trash, const Sink& report,
                  std::stop_token stop) const;

  // The files `.stats` and `.config` of the mount.
  Result<std::string> stats() const;
  Result<std::string> config() const;

 private:
  struct Watched;

  Result<ControlAnswer> exchange(const std::string& request, const Sink& report,
                                 const std::stop_token& stop) const;
  Result<ControlAnswer> watched_exchange(const std::string& request, const Sink& report,
                                         const std::stop_token& stop) const;
  // `again` becomes true when the request had to be repeated.
  Result<std::string> ask(const std::string& request, const Sink& report,
                          const std::stop_token& stop, bool* again = nullptr) const;
  Result<std::string> read(const char* file) const;

  const std::string mount_;
  const std::function<void()> alive_;
  const std::chrono::milliseconds standstill_{0};  // 0: no limit
};

}  // namespace paddle::engine::juicefs
