// SPDX-License-Identifier: Apache-2.0
#include "os/read_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::os {

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  const auto failed = [&](int why) {
    const Code code = why == ENOENT || why == ENOTDIR ? Code::kNotFound
                      : why == EACCES || why == EPERM ? Code::kForbidden
                                                      : Code::kInvalid;
    return Error{code, "can not read " + path + ": " + std::strerror(why)};
  };
  // Without O_NONBLOCK, opening a pipe that nobody writes to would hang.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed(errno);
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return failed(errno);
  if (!S_ISREG(about.st_mode)) return Error{Code::kInvalid, path + " is not a regular file"};

  std::string text;
  char piece[16384];
  for (;;) {
    const ssize_t got = ::read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > max_bytes) {
      return Error{Code::kInvalid,
                   path + " is larger than " + std::to_string(max_bytes) + " bytes"};
    }
  }
}

}  // namespace paddle::os
