// SPDX-License-Identifier: Apache-2.0
#include "sealed/view_check.h"

#include <cerrno>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuse/device_error.h"
#include "sealed/safe_open.h"

namespace paddle::sealed {
namespace {

using fuse::device_error;

Error differs(const std::string& what) { return Error{Code::kInvalid, "the mounted view " + what}; }

Result<UniqueFd> open_in(int root, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_RDONLY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  if (!fd) return device_error("open '" + path + "' in a view", errno);
  return fd;
}

Result<> check_root(int root, const BuiltView& view) {
  struct statfs totals {};
  if (::fstatfs(root, &totals) != 0) return device_error("statfs of a view", errno);
  if (totals.f_files - totals.f_ffree != view.entries) {
    return differs("has another number of entries");
  }
  TRY(UniqueFd fd, open_in(root, ".", O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd.get()), &::closedir);
  if (!entries) return device_error("list a view", errno);
  fd.release();
  std::uint64_t count = 0;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") ++count;
  }
  if (errno != 0) return device_error("list a view", errno);
  if (count != view.root_entries) return differs("lists another number of names");
  return Done{};
}

Result<> check_sample(int root, const ReadBack& sample, const Checksum& checksum) {
  TRY(const UniqueFd file, open_in(root, sample.path, 0));
  struct stat seen {};
  if (::fstat(file.get(), &seen) != 0) return device_error("stat a file of a view", errno);
  const std::int64_t modified = sample.modified.time_since_epoch().count();
  const std::int64_t shown =
      seen.st_mtim.tv_sec * std::int64_t{1'000'000} + seen.st_mtim.tv_nsec / 1000;
  if (!S_ISREG(seen.st_mode) || static_cast<std::uint64_t>(seen.st_size) != sample.size ||
      shown != modified) {
    return differs("shows a file with another size or time");
  }
  std::vector<std::byte> bytes;
  std::uint64_t at = 0;
  for (const SegmentExtent& extent : sample.extents) {
    bytes.resize(extent.length);
    CHECK_DONE(read_exactly(file.get(), at, bytes));
    if (checksum(bytes) != extent.checksum) return differs("has other bytes than its segments");
    at += extent.length;
  }
  return Done{};
}

}  // namespace

Result<> check_view(int root, const BuiltView& view, const Checksum& checksum) {
  CHECK_DONE(check_root(root, view));
  for (const ReadBack& sample : view.samples) CHECK_DONE(check_sample(root, sample, checksum));
  return Done{};
}

}  // namespace paddle::sealed
