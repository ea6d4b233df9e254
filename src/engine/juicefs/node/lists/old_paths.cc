// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/old_paths.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/unique_fd.h"
#include "engine/juicefs/node/client/open_beneath.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::chrono::milliseconds kRounded{1'000};
constexpr int kDeepest = 512;

struct CloseListing {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Error cannot_read(const std::string& path) {
  if (errno == ENOENT || errno == ENOTDIR) return {Code::kNotFound, "there is no such file"};
  return {Code::kUnavailable, "'" + path + "' cannot be read: " + std::strerror(errno)};
}

class Search {
 public:
  Search(WallTime limit, const std::stop_token& stop)
      : limit_(limit.time_since_epoch()), stop_(stop) {}

  // How many files beneath are newer; if there are any, the others are added to paths().
  Result<std::int64_t> beneath(int at, const std::string& name, const std::string& path,
                               int depth) {
    if (depth > kDeepest) return Error{Code::kInvalid, "'" + path + "' is too deep"};
    UniqueFd fd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) return cannot_read(path);
    const std::unique_ptr<DIR, CloseListing> listing(::fdopendir(fd.get()));
    if (!listing) return cannot_read(path);
    (void)fd.release();  // owned by the stream
    std::int64_t younger = 0;
    std::vector<std::string> old;
    for (;;) {
      if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped"};
      errno = 0;
      const dirent* entry = ::readdir(listing.get());
      if (!entry && errno != 0) return cannot_read(path);
      if (!entry) break;
      const std::string child = entry->d_name;
      if (child == "." || child == "..") continue;
      TRY(const std::int64_t stay,
          one(::dirfd(listing.get()), child, path + "/" + child, depth + 1));
      younger += stay;
      if (stay == 0) old.push_back(path + "/" + child);
    }
    if (younger > 0) {
      for (auto& each : old) paths_.push_back(std::move(each));
    }
    return younger;
  }

  Result<std::int64_t> one(int at, const std::string& name, const std::string& path, int depth) {
    struct stat seen {};
    if (::fstatat(at, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT && depth > 0) return 0;  // gone meanwhile
      return cannot_read(path);
    }
    if (S_ISDIR(seen.st_mode)) return beneath(at, name, path, depth);
    const auto changed =
        std::chrono::seconds{seen.st_ctim.tv_sec} + std::chrono::nanoseconds{seen.st_ctim.tv_nsec};
    return changed > limit_ ? 1 : 0;
  }

  std::vector<std::string>& paths() { return paths_; }

 private:
  const std::chrono::nanoseconds limit_;
  const std::stop_token& stop_;
  std::vector<std::string> paths_{};
};

}  // namespace

Result<OldPaths> paths_older_than(const std::string& mount, const std::string& path, WallTime limit,
                                  const std::stop_token& stop) {
  Search search(limit, stop);
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == path.npos ? "" : path.substr(0, slash);
  TRY(const UniqueFd at, open_beneath(mount, parent, O_RDONLY | O_DIRECTORY));
  OldPaths found;
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  TRY(found.younger, search.one(at.get(), name, path, 0));
  found.paths = std::move(search.paths());
  if (found.younger == 0) found.paths = {path};
  return found;
}

WallTime removal_limit(std::int64_t accepted) {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::milliseconds(accepted) + kRounded));
}

}  // namespace paddle::engine::juicefs
