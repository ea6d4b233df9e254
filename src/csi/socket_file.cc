// SPDX-License-Identifier: Apache-2.0
#include "csi/socket_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace paddle::csi {
namespace {

Error failed(const std::string& doing, const std::string& path) {
  return {Code::kUnavailable, "cannot " + doing + " " + path + ": " + std::strerror(errno)};
}

}  // namespace

Result<SocketFile> SocketFile::publish(const std::string& hidden, const std::string& shown) {
  struct stat seen {};
  if (::chmod(hidden.c_str(), 0600) != 0) return failed("protect", hidden);
  if (::lstat(hidden.c_str(), &seen) != 0) return failed("look at", hidden);
  if (::rename(hidden.c_str(), shown.c_str()) != 0) return failed("put a socket at", shown);
  return SocketFile(shown, seen.st_dev, seen.st_ino);
}

SocketFile::SocketFile(std::string path, dev_t device, ino_t inode)
    : path_(std::move(path)), device_(device), inode_(inode) {}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}

SocketFile::~SocketFile() {
  if (!path_.empty() && state() == State::kOurs) ::unlink(path_.c_str());
}

SocketFile::State SocketFile::state() const {
  struct stat seen {};
  if (::lstat(path_.c_str(), &seen) != 0) return State::kGone;
  return seen.st_dev == device_ && seen.st_ino == inode_ ? State::kOurs : State::kReplaced;
}

}  // namespace paddle::csi
