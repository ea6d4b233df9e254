// SPDX-License-Identifier: Apache-2.0
#include "sealed/safe_open.h"

#include <cerrno>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "fuse/device_error.h"

namespace paddle::sealed {

using fuse::device_error;

Result<UniqueFd> open_directory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return device_error("open the directory '" + path + "'", errno);
  return fd;
}

Result<UniqueFd> open_again(int file, int flags) {
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  UniqueFd fd(::open(link.c_str(), flags | O_CLOEXEC));
  if (!fd) return device_error("open a file again", errno);
  return fd;
}

Result<UniqueFd> open_beneath(int directory, const std::string& path, std::optional<uid_t> owner) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;  // opens nothing: a device would notice
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;
  const UniqueFd found(
      static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
  if (!found) return device_error("open '" + path + "' in a cache", errno);
  struct stat seen {};
  if (::fstat(found.get(), &seen) != 0) return device_error("stat '" + path + "'", errno);
  const auto refuse = [&](const std::string& why) {
    return Error{Code::kInvalid, "'" + path + "' in a cache " + why};
  };
  if (!S_ISREG(seen.st_mode)) return refuse("is no regular file");
  if (seen.st_nlink != 1) return refuse("has " + std::to_string(seen.st_nlink) + " names");
  if (owner && seen.st_uid != *owner) {
    return refuse("belongs to user " + std::to_string(seen.st_uid) + ", not to " +
                  std::to_string(*owner));
  }
  return open_again(found.get(), O_RDONLY | O_NOCTTY);
}

Result<std::uint64_t> size_of(int file) {
  struct stat seen {};
  if (::fstat(file, &seen) != 0) return device_error("stat a file", errno);
  return static_cast<std::uint64_t>(seen.st_size);
}

Result<bool> lies_in_memory(int file) {
  struct statfs seen {};
  if (::fstatfs(file, &seen) != 0) return device_error("statfs of a file", errno);
  return seen.f_type == TMPFS_MAGIC || seen.f_type == RAMFS_MAGIC;
}

Result<> read_exactly(int file, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return device_error("read a file", errno);
    if (got == 0) return Error{Code::kInvalid, "a file is shorter than it was"};
    done += static_cast<std::size_t>(got);
  }
  return Done{};
}

Result<std::string> copy_of(int file, std::uint64_t max_bytes) {
  TRY(const std::uint64_t size, size_of(file));
  if (size > max_bytes) {
    return Error{Code::kInvalid, "a file has " + std::to_string(size) + " bytes, more than " +
                                     std::to_string(max_bytes)};
  }
  std::string bytes(size, '\0');
  CHECK_DONE(read_exactly(file, 0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

}  // namespace paddle::sealed
