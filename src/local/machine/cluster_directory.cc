// SPDX-License-Identifier: Apache-2.0
#include "local/machine/cluster_directory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "local/api_server/data_directory.h"

namespace paddle::local {
namespace {

Error failed(const std::string& doing) {
  return {Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// The pid of the lock holder; 0: not locked.
int holder_of(int file) {
  struct flock lock = whole_file();
  if (::fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

}  // namespace

Result<> make_cluster_directory(const ClusterDirectory& directory) {
  namespace fs = std::filesystem;
  const fs::path path(directory.path);
  if (!path.is_absolute()) {
    return Error{Code::kInvalid, "the directory of a local cluster must be an absolute path"};
  }
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  auto made = error ? Result<>(Error{Code::kUnavailable, error.message()})
                    : make_private_directory(directory.path);
  if (made) return Done{};
  return Error{made.error().code, directory.path + " cannot be used (" + made.error().message +
                                      "): choose another one with --directory"};
}

int last_port(const ClusterDirectory& directory) {
  std::ifstream file(directory.port());
  int port = 0;
  return file >> port && port > 0 && port < 65536 ? port : 0;
}

Result<UniqueFd> lock_cluster_directory(const ClusterDirectory& directory) {
  UniqueFd file(::open(directory.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed("open " + directory.lock());
  struct flock lock = whole_file();
  if (::fcntl(file.get(), F_SETLK, &lock) == 0) return file;
  if (errno != EACCES && errno != EAGAIN) return failed("lock " + directory.lock());
  return Error{Code::kAlreadyExists, "a local cluster is already running in " + directory.path};
}

std::optional<LockHolder> find_lock_holder(const ClusterDirectory& directory) {
  const UniqueFd file(::open(directory.lock().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return std::nullopt;
  const int pid = holder_of(file.get());
  if (pid <= 0) return std::nullopt;
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  // If the holder is still the same, it was alive when the pidfd was opened.
  if (!process || holder_of(file.get()) != pid) return std::nullopt;
  return LockHolder{.pid = pid, .process = std::move(process)};
}

}  // namespace paddle::local
