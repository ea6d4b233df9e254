// SPDX-License-Identifier: Apache-2.0
#include "source/directory_source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "source/path_rules.h"

namespace paddle::source {
namespace {

Error error_of(int number, std::string doing) {
  Error error{Code::kUnavailable, std::move(doing) + ": " + std::strerror(number)};
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      error.code = Code::kNotFound;
      break;
    case ELOOP:
    case EXDEV:  // the path leads out of the root
    case EACCES:
    case EPERM:
      error.code = Code::kForbidden;
      break;
    case ENAMETOOLONG:
    case EINVAL:
      error.code = Code::kInvalid;
      break;
    default:
      break;
  }
  return error;
}

UniqueFd open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

std::string etag_of(const struct stat& file) {
  char text[80];
  std::snprintf(text, sizeof text, "%llx-%llx-%llx.%lx",
                static_cast<unsigned long long>(file.st_ino),
                static_cast<unsigned long long>(file.st_size),
                static_cast<unsigned long long>(file.st_mtim.tv_sec),
                static_cast<unsigned long>(file.st_mtim.tv_nsec));
  return text;
}

WallTime modified_at(const struct stat& file) {
  return WallTime{std::chrono::seconds{file.st_mtim.tv_sec} +
                  std::chrono::microseconds{file.st_mtim.tv_nsec / 1000}};
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// One pass over a tree, a directory at a time; paths of directories still to visit are kept.
class Walk {
 public:
  Walk(int root, const ObjectSink& sink, std::stop_token stop, const Clock& clock,
       const DirectoryLimits& limits)
      : root_(root),
        sink_(sink),
        stop_(std::move(stop)),
        clock_(clock),
        limits_(limits),
        until_(clock.boot() + limits.listing_limit) {}

  Result<Listed> run() {
    for (waiting_.emplace_back(); !waiting_.empty(); waiting_.pop_front()) {
      CHECK_DONE(visit(waiting_.front()));
    }
    return listed_;
  }

 private:
  Result<> visit(const std::string& path) {
    UniqueFd fd = open_beneath(root_, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
    if (!fd && errno == ENOENT && !path.empty()) return Done{};  // removed meanwhile
    if (!fd) return error_of(errno, "open directory " + path);
    Directory directory(::fdopendir(fd.get()));
    if (!directory) return error_of(errno, "open directory " + path);
    const int at = fd.release();  // owned by the stream now
    for (;;) {
      if (stop_.stop_requested()) return Error{Code::kCancelled, "the listing was stopped"};
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (!entry) break;
      CHECK_DONE(meet(at, path, entry->d_name));
    }
    if (errno != 0) return error_of(errno, "read directory " + path);
    return Done{};
  }

  Result<> meet(int directory, const std::string& parent, const char* name) {
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) return Done{};
    if (++met_ > limits_.most_objects) {
      return Error{Code::kInvalid, "the source has more than " +
                                       std::to_string(limits_.most_objects) +
                                       " files; sync a part of it: a directory beneath"};
    }
    if (clock_.boot() >= until_) {
      return Error{Code::kInvalid, "the listing has not ended in " +
                                       std::to_string(limits_.listing_limit.count()) +
                                       " hours; sync a part of it: a directory beneath"};
    }
    std::string path = parent.empty() ? name : parent + "/" + name;
    struct stat file {};
    if (::fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? Result<>(Done{}) : error_of(errno, "stat " + path);
    }
    if (S_ISLNK(file.st_mode)) {
      const UniqueFd target = open_beneath(root_, path, O_PATH);
      if (!target || ::fstat(target.get(), &file) != 0) {
        return leave_out(path, "a link out of the source or to nothing");
      }
      if (S_ISDIR(file.st_mode)) return leave_out(path, "a link to a directory");
    }
    if (const auto why = why_no_path(path); !why.empty()) return leave_out(path, why);
    if (!S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) return leave_out(path, "no regular file");
    if (S_ISDIR(file.st_mode)) {
      waiting_.push_back(std::move(path));
      return Done{};
    }
    ++listed_.objects;
    listed_.bytes += static_cast<std::uint64_t>(file.st_size);
    return sink_({.path = std::move(path),
                  .size = static_cast<std::uint64_t>(file.st_size),
                  .etag = etag_of(file),
                  .modified = modified_at(file)});
  }

  Result<> leave_out(std::string_view path, std::string_view why) {
    listed_.left_out.add(path, why);
    return Done{};
  }

  const int root_;
  const ObjectSink& sink_;
  const std::stop_token stop_;
  const Clock& clock_;
  const DirectoryLimits limits_;
  const BootTime until_;
  std::uint64_t met_ = 0;
  std::deque<std::string> waiting_{};
  Listed listed_{};
};

Result<> expect_version(int fd, std::string_view etag, std::uint64_t end) {
  struct stat file {};
  if (::fstat(fd, &file) != 0) return error_of(errno, "stat");
  if (!S_ISREG(file.st_mode)) return Error{Code::kConflict, "it is no longer a regular file"};
  if (etag_of(file) != etag) return Error{Code::kConflict, "the file has changed"};
  if (end > static_cast<std::uint64_t>(file.st_size)) {
    return Error{Code::kInvalid, "the range is past the end of the file"};
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<DirectorySource>> DirectorySource::open(const std::string& directory,
                                                               const Clock& clock,
                                                               DirectoryLimits limits) {
  UniqueFd root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root && errno == ENOTDIR) return Error{Code::kInvalid, "the source is not a directory"};
  if (!root) return error_of(errno, "open the source directory");
  return std::unique_ptr<DirectorySource>(new DirectorySource(std::move(root), clock, limits));
}

Result<Listed> DirectorySource::list(const ObjectSink& sink, std::stop_token stop) {
  return Walk(root_.get(), sink, std::move(stop), clock_, limits_).run();
}

Result<> DirectorySource::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                               std::span<std::byte> into, const CallContext& context) {
  if (into.empty()) return Done{};
  if (!is_path(path)) return Error{Code::kInvalid, "not a path of a sample"};
  if (offset > INT64_MAX || into.size() > INT64_MAX - offset) {
    return Error{Code::kInvalid, "the range is past the end of the file"};
  }
  const UniqueFd fd =
      open_beneath(root_.get(), std::string(path), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return error_of(errno, "open");
  CHECK_DONE(expect_version(fd.get(), etag, offset + into.size()));
  while (!into.empty()) {
    if (context.stop.stop_requested()) return Error{Code::kCancelled, "the read was stopped"};
    if (context.left(clock_).count() == 0) {
      return Error{Code::kDeadline, "the directory did not return the bytes in time"};
    }
    const ssize_t got = ::pread(fd.get(), into.data(), std::min(into.size(), std::size_t{1} << 20),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_of(errno, "read");
    if (got == 0) return Error{Code::kConflict, "the file has become shorter"};
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return expect_version(fd.get(), etag, offset);
}

}  // namespace paddle::source
