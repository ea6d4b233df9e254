// SPDX-License-Identifier: Apache-2.0
#include "test/mount/mount_fixture.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

std::string try_to_mount() {
  const MountPoint point;
  auto mounted = fuse::mount_data(point.path(), {});
  if (!mounted) return "no FUSE mounts here: " + mounted.error().message;
  return {};
}

}  // namespace

const std::string& why_no_mounts() {
  static const std::string kReason = try_to_mount();
  return kReason;
}

MountPoint::MountPoint() : path_(scratch_.path() + "/mnt") { ::mkdir(path_.c_str(), 0755); }

MountPoint::~MountPoint() {
  const auto mounts = fuse::read_mountinfo();
  const auto top = mounts ? fuse::top_of(*mounts, path_) : std::nullopt;
  if (top && top->is_fuse()) ::umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

FuseControl::FuseControl() {
  if (::mount("none", scratch_.path().c_str(), "fusectl", 0, nullptr) != 0) {
    ADD_FAILURE() << "fusectl cannot be mounted";
  }
}

FuseControl::~FuseControl() { ::umount2(scratch_.path().c_str(), MNT_DETACH); }

std::string FuseControl::file(const std::string& device, const std::string& name) const {
  return scratch_.path() + "/" + device.substr(device.find(':') + 1) + "/" + name;
}

int FuseControl::waiting(const std::string& device) const {
  const std::string text = read_file(file(device, "waiting"));
  return text.empty() ? -1 : std::atoi(text.c_str());
}

bool FuseControl::abort(const std::string& device) const {
  const UniqueFd fd(::open(file(device, "abort").c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), "1", 1) == 1;
}

void MountTest::start(fuse::DataMountOptions options) {
  auto mount = fuse::DataMount::start(point_.path(), files_, metrics_, std::move(options));
  ASSERT_TRUE(mount) << mount.error().message;
  mount_ = *std::move(mount);
}

Content read_all(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {errno};
  Content content;
  std::vector<char> part(100'000);
  while (true) {
    const ssize_t got = ::read(fd.get(), part.data(), part.size());
    if (got < 0) return {errno, std::move(content.bytes)};
    if (got == 0) return content;
    content.bytes.append(part.data(), static_cast<std::size_t>(got));
  }
}

Content read_at(const std::string& path, std::uint64_t offset, std::size_t size) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {errno};
  Content content{0, std::string(size, '\0')};
  const ssize_t got = ::pread(fd.get(), content.bytes.data(), size, static_cast<off_t>(offset));
  if (got < 0) return {errno};
  content.bytes.resize(static_cast<std::size_t>(got));
  return content;
}

int stat_error(const std::string& path) {
  struct stat answer {};
  return ::stat(path.c_str(), &answer) == 0 ? 0 : errno;
}

std::vector<std::string> list(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), &::closedir);
  if (!open) return {"errno " + std::to_string(errno)};
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) return {"errno " + std::to_string(errno)};
  std::sort(names.begin(), names.end());
  return names;
}

void drop_page_cache(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
}

std::string pattern(std::uint64_t seed, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  fuse::fill_pattern(seed, offset, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace paddle::test
