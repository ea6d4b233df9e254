// SPDX-License-Identifier: Apache-2.0
#include "sealed/immutable.h"

#include <cerrno>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "fuse/device_error.h"
#include "sealed/safe_open.h"

namespace paddle::sealed {

using fuse::device_error;

int set_immutable(int file, bool immutable) {
  int flags = 0;
  if (::ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return errno;
  const int wanted = immutable ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  if (wanted == flags) return 0;
  return ::ioctl(file, FS_IOC_SETFLAGS, &wanted) == 0 ? 0 : errno;
}

Result<bool> is_immutable(int file) {
  int flags = 0;
  if (::ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) {
    return device_error("read the flags of a segment", errno);
  }
  return (flags & FS_IMMUTABLE_FL) != 0;
}

Result<ImmutableSegments::Identity> ImmutableSegments::identity_of(int file) {
  struct stat seen {};
  if (::fstat(file, &seen) != 0) return device_error("stat a segment", errno);
  return Identity{seen.st_dev, seen.st_ino};
}

Result<> ImmutableSegments::hold(int segment) {
  TRY(const Identity identity, identity_of(segment));
  Lock lock(mutex_);
  const auto at = held_.find(identity);
  if (at != held_.end()) {
    ++at->second.views;
    return Done{};
  }
  UniqueFd own(::fcntl(segment, F_DUPFD_CLOEXEC, 0));
  if (!own) return device_error("hold a segment", errno);
  if (const int error = set_immutable(segment, true); error != 0) {
    return device_error("make a segment immutable", error);
  }
  held_[identity] = {std::move(own), 1};
  return Done{};
}

void ImmutableSegments::release(int segment) {
  const auto identity = identity_of(segment);
  Lock lock(mutex_);
  const auto at = identity ? held_.find(*identity) : held_.end();
  if (at == held_.end() || --at->second.views > 0) return;
  if (const int error = set_immutable(at->second.file.get(), false); error != 0) {
    log::error("a segment stays immutable",
               {{"reason", device_error("lift the flag", error).message}});
  }
  held_.erase(at);
}

std::size_t ImmutableSegments::held() const {
  Lock lock(mutex_);
  return held_.size();
}

Result<int> ImmutableSegments::lift_leftovers(int directory) {
  TRY(UniqueFd again, open_again(directory, O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(again.get()), &::closedir);
  if (!entries) return device_error("list a cache", errno);
  again.release();
  int lifted = 0;
  Lock lock(mutex_);
  while (const dirent* entry = ::readdir(entries.get())) {
    const auto file = open_beneath(directory, entry->d_name);
    if (!file) continue;  // no regular file
    const auto identity = identity_of(file->get());
    if (!identity || held_.contains(*identity)) continue;
    const auto flagged = is_immutable(file->get());
    if (!flagged || !*flagged) continue;
    if (const int error = set_immutable(file->get(), false); error != 0) {
      return device_error("lift the flag of a segment", error);
    }
    ++lifted;
  }
  return lifted;
}

}  // namespace paddle::sealed
