// SPDX-License-Identifier: Apache-2.0
#include "sealed/probe.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "erofs/format.h"
#include "erofs/image_writer.h"
#include "fuse/device_error.h"
#include "sealed/immutable.h"
#include "sealed/safe_open.h"
#include "sealed/view_mount.h"

namespace paddle::sealed {
namespace {

using fuse::device_error;

constexpr std::uint64_t kBlocks = 4;
constexpr std::uint64_t kSize = 2 * erofs::kBlock + 100;  // of the good file, in blocks 1 to 3

std::string kind_of(const std::string& directory) {
  struct statfs seen {};
  if (::statfs(directory.c_str(), &seen) != 0) return {};
  switch (seen.f_type) {
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case TMPFS_MAGIC:
      return "tmpfs";
    default:
      return {};
  }
}

// Different in every byte of a block and in every block; zeros behind `kSize`.
std::string segment_bytes() {
  std::string bytes(kBlocks * erofs::kBlock, '\0');
  for (std::size_t i = 0; i < erofs::kBlock + kSize; ++i) {
    bytes[i] = static_cast<char>(1 + (i * 31 + i / erofs::kBlock) % 251);
  }
  return bytes;
}

Result<UniqueFd> temporary(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd) return device_error("create a file in '" + directory + "'", errno);
  return fd;
}

Result<UniqueFd> write_temporary(const std::string& directory, std::string_view bytes) {
  TRY(UniqueFd file, temporary(directory));
  const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
  if (put != static_cast<ssize_t>(bytes.size())) {
    return device_error("write a file in '" + directory + "'", put < 0 ? errno : ENOSPC);
  }
  if (::fdatasync(file.get()) != 0) return device_error("sync a file", errno);
  return file;
}

// "beyond" has its second block behind the end of a segment of `kBlocks`.
Result<std::string> image_bytes() {
  erofs::Tree tree({kBlocks + 1});
  const erofs::Extent beyond[] = {{.device = 0, .block = kBlocks - 1}};
  const erofs::Extent good[] = {{.device = 0, .block = 1}};
  CHECK_DONE(tree.add({.path = "beyond", .size = 2 * erofs::kBlock, .extents = beyond}));
  CHECK_DONE(tree.add({.path = "good", .size = kSize, .extents = good}));
  std::string image;
  CHECK_DONE(erofs::write_image(tree, {}, [&](std::string_view part) -> Result<> {
    image += part;
    return Done{};
  }));
  return image;
}

void read_view(int root, std::string_view segment, ProbeObservation& seen) {
  std::string bytes(kSize, '\0');
  const UniqueFd good(::openat(root, "good", O_RDONLY | O_CLOEXEC));
  errno = 0;
  if (!good || ::pread(good.get(), bytes.data(), bytes.size(), 0) < 0) seen.read_error = errno;
  seen.right_bytes = bytes == segment.substr(erofs::kBlock, kSize);

  std::array<char, erofs::kBlock> block{};
  const UniqueFd beyond(::openat(root, "beyond", O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::pread(beyond.get(), block.data(), block.size(), erofs::kBlock);
  if (got < 0) seen.beyond_end_error = errno;
  seen.beyond_end_read = got > 0;
}

}  // namespace

Result<ProbeObservation> observe(const std::string& cache_directory,
                                 const std::string& image_directory) {
  ProbeObservation seen;
  utsname name{};
  if (::uname(&name) == 0) seen.release = name.release;
  seen.file_system = kind_of(image_directory);

  const std::string bytes = segment_bytes();
  TRY(const UniqueFd segment, write_temporary(cache_directory, bytes));
  TRY(seen.cache_in_memory, lies_in_memory(segment.get()));
  seen.immutable_error = set_immutable(segment.get(), true);
  if (seen.immutable_error == 0) set_immutable(segment.get(), false);
  const std::string link = "/proc/self/fd/" + std::to_string(segment.get());
  const UniqueFd direct(::open(link.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!direct) seen.direct_error = errno;
  TRY(const std::string image_text, image_bytes());
  TRY(const UniqueFd image, write_temporary(image_directory, image_text));
  const int segments[] = {segment.get()};
  ImageMount mounted = mount_image(image.get(), segments);
  seen.mount_error = mounted.error;
  seen.mount_message = std::move(mounted.message);
  if (mounted.tree) read_view(mounted.tree.get(), bytes, seen);
  return seen;
}

ProbeResult probe(const std::string& cache_directory, const std::string& image_directory) {
  const auto seen = observe(cache_directory, image_directory);
  if (!seen) return {.sealed = false, .reason = seen.error().message};
  return judge(*seen);
}

}  // namespace paddle::sealed
