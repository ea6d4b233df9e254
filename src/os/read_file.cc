// SPDX-License-Identifier: Apache-2.0
#include "os/read_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::os {
namespace {

Error cannot_read(Code code, const std::string& name) {
  return {code, "cannot read " + name + ": " + std::strerror(errno)};
}

Code code_of(int cause) {
  if (cause == ENOENT || cause == ENOTDIR) return Code::kNotFound;
  return cause == EACCES || cause == EPERM ? Code::kForbidden : Code::kInvalid;
}

}  // namespace

Result<std::string> read_to_end(int fd, const std::string& name, size_t max_bytes) {
  std::string text;
  char piece[16384];
  for (;;) {
    const ssize_t got = ::read(fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(Code::kUnavailable, name);
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > max_bytes) {
      return Error{Code::kInvalid,
                   name + " is larger than " + std::to_string(max_bytes) + " bytes"};
    }
  }
}

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe that has no writer would block.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return cannot_read(code_of(errno), path);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return cannot_read(code_of(errno), path);
  if (!S_ISREG(about.st_mode)) return Error{Code::kInvalid, path + " is not a regular file"};
  return read_to_end(file.get(), path, max_bytes);
}

}  // namespace paddle::os
