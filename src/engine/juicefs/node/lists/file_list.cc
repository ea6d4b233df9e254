// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/file_list.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/unique_fd.h"
#include "engine/juicefs/node/client/open_beneath.h"
#include "engine/juicefs/node/command/set_path.h"
#include "engine/juicefs/node/plan/leftovers.h"
#include "engine/juicefs/node/plan/path_list.h"
#include "os/read_file.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kReportInterval = 10'000;
constexpr std::size_t kLongestList = std::size_t{1} << 30;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Error failed(const std::string& path) {
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
    return {Code::kNotFound, "the set has no '" + path + "'; sync it or correct the path"};
  }
  return {Code::kUnavailable, "'" + path + "' cannot be listed: " + std::strerror(errno)};
}

unsigned char type_of(int directory, const std::string& name) {
  struct stat seen {};
  if (::fstatat(directory, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return S_ISDIR(seen.st_mode) ? DT_DIR : S_ISREG(seen.st_mode) ? DT_REG : DT_UNKNOWN;
}

// How many of these names, sorted, a directory has as regular files.
Result<std::int64_t> count_named(UniqueFd fd, const std::string& path,
                                 const std::vector<std::string_view>& names) {
  const std::unique_ptr<DIR, CloseDirectory> listing(::fdopendir(fd.get()));
  if (!listing) return failed(path);
  (void)fd.release();  // owned by the stream
  std::int64_t count = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (!entry && errno != 0 && errno != ENOENT) return failed(path);
    if (!entry) return count;
    const auto [first, last] =
        std::equal_range(names.begin(), names.end(), std::string_view(entry->d_name));
    if (first == last) continue;
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN) type = type_of(::dirfd(listing.get()), entry->d_name);
    if (type == DT_REG) count += last - first;
  }
}

class Walk {
 public:
  // Skips hidden directories. With `hidden`, collects only hidden files whose name it accepts;
  // without, only files that are not hidden.
  Walk(const std::string& mount, const std::function<void(std::size_t)>& found,
       std::stop_token stop, bool (*hidden)(const std::string&) = nullptr)
      : mount_(mount), found_(found), stop_(std::move(stop)), hidden_(hidden) {}

  Result<> from(const std::string& root) {
    std::vector<std::string> open{root};
    while (!open.empty()) {
      const std::string at = std::move(open.back());
      open.pop_back();
      auto fd = open_beneath(mount_, at, O_RDONLY | O_DIRECTORY);
      if (fd.is(Code::kNotFound) && at != root) continue;  // removed meanwhile
      if (!fd) return std::move(fd).error();
      CHECK_DONE(read_directory(*std::move(fd), at, open));
    }
    return Done{};
  }

  void add(std::string path) {
    files_.push_back(std::move(path));
    if (found_ && files_.size() % kReportInterval == 0) found_(files_.size());
  }

  std::vector<std::string> in_order() && {
    std::sort(files_.begin(), files_.end());
    files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
    if (unnameable_ > 0) {
      log::warn("left out files whose names have a newline", {{"files", unnameable_}});
    }
    return std::move(files_);
  }

 private:
  Result<> read_directory(UniqueFd fd, const std::string& path, std::vector<std::string>& open) {
    const std::unique_ptr<DIR, CloseDirectory> listing(::fdopendir(fd.get()));
    if (!listing) return failed(path);
    (void)fd.release();  // owned by the stream
    const std::string before = path.empty() ? "" : path + "/";
    for (;;) {
      if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped"};
      errno = 0;
      const dirent* entry = ::readdir(listing.get());
      if (!entry && errno != 0 && errno != ENOENT) return failed(path);
      if (!entry) return Done{};
      const std::string name = entry->d_name;
      if (name.starts_with('.') && !(hidden_ && hidden_(name))) continue;
      unsigned char type = entry->d_type;
      if (type == DT_UNKNOWN) type = type_of(::dirfd(listing.get()), name);
      if (name.find('\n') != name.npos) {
        ++unnameable_;
      } else if (type == DT_DIR && !name.starts_with('.')) {
        open.push_back(before + name);
      } else if (type == DT_REG && name.starts_with('.') == (hidden_ != nullptr)) {
        add(before + name);
      }
    }
  }

  const std::string& mount_;
  const std::function<void(std::size_t)>& found_;
  const std::stop_token stop_;
  bool (*const hidden_)(const std::string&);
  std::vector<std::string> files_{};
  std::size_t unnameable_ = 0;
};

// In the order of the lines, which may be a trainer's own order. A line may also be an absolute
// path beneath the mount.
Result<std::vector<std::string>> listed_in(const std::string& mount, const std::string& file) {
  TRY(const std::string path, path_in_set(file));
  TRY(const UniqueFd fd, open_beneath(mount, path, O_RDONLY));
  TRY(const std::string text, os::read_to_end(fd.get(), "the list '" + path + "'", kLongestList));
  std::vector<std::string> paths;
  for (auto line : from_text(text)) {
    if (line.starts_with(mount + "/")) line.erase(0, mount.size());
    TRY(std::string clean, path_in_set(line));
    if (!clean.empty()) paths.push_back(std::move(clean));
  }
  return paths;
}

}  // namespace

Result<std::vector<std::string>> list_files(const std::string& mount, const Selection& which,
                                            const std::function<void(std::size_t)>& found,
                                            std::stop_token stop) {
  if (!which.file.empty()) return listed_in(mount, which.file);
  Walk walk(mount, found, std::move(stop));
  std::vector<std::string> roots = which.paths;
  if (roots.empty()) roots.emplace_back();
  for (const std::string& given : roots) {
    TRY(const std::string path, path_in_set(given));
    TRY(const UniqueFd fd, open_beneath(mount, path, O_RDONLY));
    struct stat seen {};
    if (::fstat(fd.get(), &seen) != 0) return failed(path);
    if (S_ISDIR(seen.st_mode)) {
      CHECK_DONE(walk.from(path));
    } else {
      walk.add(path);
    }
  }
  return std::move(walk).in_order();
}

Result<Presence> count_present(const std::string& mount, const std::vector<std::string>& files,
                               const std::stop_token& stop) {
  Presence seen;
  for (const auto& path : files) {
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
    struct stat file {};
    if (::lstat((mount + "/" + path).c_str(), &file) == 0) {
      if (S_ISREG(file.st_mode)) ++seen.files;
    } else if (errno == ENOENT || errno == ENOTDIR) {
      if (seen.absent++ == 0) seen.first_absent = path;
    }
  }
  return seen;
}

Result<std::int64_t> count_listed(const std::string& mount, const std::vector<std::string>& files,
                                  const std::stop_token& stop) {
  std::map<std::string_view, std::vector<std::string_view>> by_directory;
  for (const std::string_view path : files) {
    const auto slash = path.rfind('/');
    const bool nested = slash != path.npos;
    by_directory[nested ? path.substr(0, slash) : std::string_view{}].push_back(
        nested ? path.substr(slash + 1) : path);
  }
  std::int64_t count = 0;
  for (auto& [directory, names] : by_directory) {
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
    auto fd = open_beneath(mount, std::string(directory), O_RDONLY | O_DIRECTORY);
    if (fd.is(Code::kNotFound)) continue;
    if (!fd) return std::move(fd).error();
    std::sort(names.begin(), names.end());
    TRY(const std::int64_t here, count_named(*std::move(fd), std::string(directory), names));
    count += here;
  }
  return count;
}

Result<std::vector<std::string>> list_leftovers(const std::string& mount, WallTime before,
                                                std::stop_token stop) {
  const std::function<void(std::size_t)> no_report;
  Walk walk(mount, no_report, std::move(stop), is_leftover_name);
  CHECK_DONE(walk.from(""));
  std::vector<std::string> old;
  for (auto& path : std::move(walk).in_order()) {
    struct stat seen {};
    if (::lstat((mount + "/" + path).c_str(), &seen) != 0) continue;
    const auto written =
        std::chrono::seconds{seen.st_mtim.tv_sec} + std::chrono::nanoseconds{seen.st_mtim.tv_nsec};
    if (written < before.time_since_epoch()) {
      old.push_back(std::move(path));
    }
  }
  return old;
}

}  // namespace paddle::engine::juicefs
