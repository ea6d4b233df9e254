// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/client/control.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/sync.h"
#include "base/unique_fd.h"
#include "engine/juicefs/node/client/open_beneath.h"
#include "engine/juicefs/node/command/set_path.h"
#include "os/read_file.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kPathsPerMessage = 10'000;
constexpr std::size_t kLongestFile = std::size_t{4} << 20;
constexpr std::chrono::milliseconds kShortPause{2};
constexpr std::chrono::milliseconds kLongPause{200};
constexpr int kMostAsks = 5;
// How long a stopped call waits for a client that may hang.
constexpr std::chrono::milliseconds kStopLimit{1'000};
const std::string kStopped = "stopped";

Error unavailable(const std::string& mount, const std::string& why) {
  return {Code::kUnavailable, "no JuiceFS client answers at '" + mount + "': " + why};
}

}  // namespace

Result<ControlAnswer> Control::exchange(const std::string& request, const Sink& report,
                                        const std::stop_token& stop) const {
  const UniqueFd fd(::open((mount_ + "/.control").c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!fd) return unavailable(mount_, std::strerror(errno));
  std::size_t written = 0;
  while (written < request.size()) {
    const ssize_t n = ::write(fd.get(), request.data() + written, request.size() - written);
    if (alive_) alive_();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unavailable(mount_, std::strerror(errno));
    written += static_cast<std::size_t>(n);
  }
  ControlReader reader;
  std::array<char, 64UL * 1024> room{};
  int empty_reads = 0;
  while (!reader.answer().ended) {
    const ssize_t got = ::read(fd.get(), room.data(), room.size());
    if (alive_) alive_();
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unavailable(mount_, std::strerror(errno));
    if (got == 0) {  // nothing yet
      const auto pause = backoff(kShortPause, ++empty_reads, kLongPause);
      if (!system_clock().sleep(pause, stop)) return Error{Code::kCancelled, kStopped};
      continue;
    }
    empty_reads = 0;
    CHECK_DONE(reader.add({room.data(), static_cast<std::size_t>(got)}));
    const auto& seen = reader.answer();
    if (report)
      report(static_cast<std::int64_t>(seen.files), static_cast<std::int64_t>(seen.bytes));
    if (stop.stop_requested()) return Error{Code::kCancelled, kStopped};
  }
  return reader.answer();
}

// Shared with a thread that may never end.
struct Control::Watched {
  explicit Watched(const std::string& mount)
      : control(mount, [this] {
          Lock lock(mutex);
          answered = system_clock().boot();
        }) {}

  const Control control;
  std::stop_source end{};
  Mutex mutex{};
  CondVar changed{};
  BootTime answered GUARDED_BY(mutex) = system_clock().boot();
  std::int64_t files GUARDED_BY(mutex) = 0;
  std::int64_t bytes GUARDED_BY(mutex) = 0;
  std::optional<Result<ControlAnswer>> result GUARDED_BY(mutex){};
};

Result<ControlAnswer> Control::watched_exchange(const std::string& request, const Sink& report,
                                                const std::stop_token& stop) const {
  const auto shared = std::make_shared<Watched>(mount_);
  std::thread([shared, request] {
    auto done = shared->control.exchange(
        request,
        [&](std::int64_t files, std::int64_t bytes) {
          Lock lock(shared->mutex);
          shared->files = files;
          shared->bytes = bytes;
          shared->changed.notify_all();
        },
        shared->end.get_token());
    Lock lock(shared->mutex);
    shared->result = std::move(done);
    shared->changed.notify_all();
  }).detach();

  const std::stop_callback forward(stop, [&] { shared->end.request_stop(); });
  std::int64_t reported_files = 0, reported_bytes = 0;
  for (;;) {
    std::int64_t files = 0, bytes = 0;
    {
      Lock lock(shared->mutex);
      if (!shared->result && shared->files == reported_files && shared->bytes == reported_bytes) {
        shared->changed.wait_for(shared->mutex, {}, kLongPause);
      }
      files = shared->files;
      bytes = shared->bytes;
      if (shared->result) {
        if (report && (files != reported_files || bytes != reported_bytes)) report(files, bytes);
        return *std::move(shared->result);
      }
      const auto silent = system_clock().boot() - shared->answered;
      if (silent >= (stop.stop_requested() ? kStopLimit : standstill_)) {
        shared->end.request_stop();
        if (stop.stop_requested()) return Error{Code::kCancelled, kStopped};
        return unavailable(mount_, "the client has not answered for " +
                                       std::to_string(standstill_.count() / 1000) +
                                       " s and seems to hang; see the log of the JuiceFS mount pod "
                                       "on this node, and delete that pod");
      }
    }
    if (report && (files != reported_files || bytes != reported_bytes)) report(files, bytes);
    reported_files = files;
    reported_bytes = bytes;
  }
}

// The client works on after it has accepted a request, and sometimes returns EINTR although nothing
// interrupted it. Then the request is repeated.
Result<std::string> Control::ask(const std::string& request, const Sink& report,
                                 const std::stop_token& stop, bool* again) const {
  for (int asked = 1;; ++asked) {
    TRY(const ControlAnswer answer, standstill_.count() > 0
                                        ? watched_exchange(request, report, stop)
                                        : exchange(request, report, stop));
    if (answer.error == 0) return answer.data;
    if (answer.error == EINTR && asked < kMostAsks) {
      if (again) *again = true;
      if (!system_clock().sleep(kLongPause, stop)) return Error{Code::kCancelled, kStopped};
      continue;
    }
    if (answer.error == ENOENT) return Error{Code::kNotFound, "there is no such file"};
    return Error{Code::kUnavailable,
                 std::string("JuiceFS reports: ") + std::strerror(answer.error)};
  }
}

Result<CacheUsage> Control::cache(CacheAction action, const std::vector<std::string>& paths,
                                  std::uint16_t threads, const Sink& report,
                                  std::stop_token stop) const {
  CacheUsage all;
  for (std::size_t from = 0; from < paths.size(); from += kPathsPerMessage) {
    const auto begin = paths.begin() + static_cast<std::ptrdiff_t>(from);
    const auto size = static_cast<std::ptrdiff_t>(std::min(kPathsPerMessage, paths.size() - from));
    const auto more = [&](std::int64_t files, std::int64_t bytes) {
      if (report) report(all.files + files, all.bytes + bytes);
    };
    TRY(const std::string answer,
        ask(cache_request(action, {begin, begin + size}, threads), more, stop));
    TRY(const CacheUsage figures, parse_cache_usage(answer));
    all += figures;
  }
  if (report) report(all.files, all.bytes);
  return all;
}

Result<VolumeTotals> Control::totals(bool strict, std::stop_token stop) const {
  TRY(const std::string answer, ask(totals_request(kRootInode, strict), {}, stop));
  return parse_totals(answer);
}

Result<> Control::remove(const std::string& path, bool skip_trash, const Sink& report,
                         std::stop_token stop) const {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == path.npos ? "" : path.substr(0, slash);
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  if (name.size() > kLongestName) {  // the protocol would cut it to another file's name
    return Error{Code::kInvalid, "a name in the set has at most 255 bytes; correct the path"};
  }
  TRY(const UniqueFd root, open_beneath(mount_, "", O_RDONLY | O_DIRECTORY));
  TRY(const UniqueFd at, open_beneath(mount_, parent, O_RDONLY | O_DIRECTORY));
  struct stat mount {};
  struct stat seen {};
  if (::fstat(root.get(), &mount) != 0 || ::fstat(at.get(), &seen) != 0) {
    return unavailable(mount_, std::strerror(errno));
  }
  // An inode number of another file system means a different directory to this client.
  if (seen.st_dev != mount.st_dev) {
    return Error{Code::kInvalid, "'" + parent + "' is not part of the set; correct the path"};
  }
  bool again = false;
  auto removed = ask(remove_request(seen.st_ino, name, skip_trash), report, stop, &again);
  if (again && removed.is(Code::kNotFound)) return Done{};  // removed by the first request
  if (!removed) return std::move(removed).error();
  return Done{};
}

Result<std::string> Control::read(const char* file) const {
  const UniqueFd fd(::open((mount_ + "/" + file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return unavailable(mount_, std::strerror(errno));
  auto text = os::read_to_end(fd.get(), std::string("'") + file + "'", kLongestFile);
  if (!text) return unavailable(mount_, text.error().message);
  if (alive_) alive_();
  return text;
}

Result<std::string> Control::stats() const { return read(".stats"); }
Result<std::string> Control::config() const { return read(".config"); }

}  // namespace paddle::engine::juicefs
