// SPDX-License-Identifier: Apache-2.0
#include "sealed/plan/probe_result.h"

#include <cerrno>
#include <charconv>
#include <system_error>

namespace paddle::sealed {
namespace {

constexpr KernelVersion kFirstGood{7, 0, 0};
// The first good release of each line that had the defect.
constexpr KernelVersion kMended[] = {{6, 12, 80}, {6, 18, 21}, {6, 19, 11}};

std::string errno_text(int error) { return std::generic_category().message(error); }

std::string why_not_mounted(const ProbeObservation& seen) {
  const std::string where = seen.file_system.empty() ? "the cache's file system" : seen.file_system;
  switch (seen.mount_error) {
    case ENODEV:
      return "the kernel has no EROFS";
    case ENOTBLK:
      return "the kernel cannot mount an EROFS image from a file on " + where;
    case EINVAL:
      return "the kernel refuses EROFS views with devices and direct I/O" +
             (seen.mount_message.empty() ? "" : ": " + seen.mount_message);
    case EPERM:
    case EACCES:
      return "this process may not mount EROFS views";
    default:
      return "an EROFS view cannot be mounted: " + errno_text(seen.mount_error);
  }
}

}  // namespace

std::optional<KernelVersion> parse_kernel_version(std::string_view release) {
  KernelVersion version;
  int* const parts[] = {&version.major, &version.minor, &version.patch};
  int read = 0;
  for (int* part : parts) {
    const auto [end, error] =
        std::from_chars(release.data(), release.data() + release.size(), *part);
    if (error != std::errc{} || *part < 0) break;
    ++read;
    release.remove_prefix(static_cast<std::size_t>(end - release.data()));
    if (release.empty() || release.front() != '.') break;
    release.remove_prefix(1);
  }
  if (read < 2) return std::nullopt;
  return version;
}

std::string why_kernel_is_unfit(std::string_view release) {
  const auto version = parse_kernel_version(release);
  if (!version) return "the kernel's version cannot be read";
  if (*version >= kFirstGood) return {};
  if (*version < KernelVersion{6, 12, 0}) {
    return "kernel " + std::string(release) + " cannot mount EROFS from files (Linux 6.12)";
  }
  for (const KernelVersion& mended : kMended) {
    if (version->major == mended.major && version->minor == mended.minor &&
        version->patch >= mended.patch) {
      return {};
    }
  }
  return "kernel " + std::string(release) +
         " may return zeros after a reader was killed; mended in 6.12.80, 6.18.21, 6.19.11 and 7.0";
}

ProbeResult judge(const ProbeObservation& seen) {
  const auto no = [](std::string reason) { return ProbeResult{false, std::move(reason)}; };
  if (auto why = why_kernel_is_unfit(seen.release); !why.empty()) return no(std::move(why));
  if (seen.cache_in_memory) {
    return no("the cache lies in memory, where a view would hold every byte twice");
  }
  if (seen.immutable_error != 0) {
    return no("files of the cache's file system cannot be made immutable: " +
              errno_text(seen.immutable_error));
  }
  if (seen.direct_error != 0) {
    return no("the cache's file system has no direct I/O: " + errno_text(seen.direct_error));
  }
  if (seen.mount_error != 0) return no(why_not_mounted(seen));
  if (seen.read_error != 0) {
    return no("a view cannot be read: " + errno_text(seen.read_error));
  }
  if (!seen.right_bytes) return no("a view returned bytes that are not those of its segment");
  if (seen.beyond_end_read || seen.beyond_end_error != EIO) {
    return no("the kernel does not fail a read beyond the end of a segment");
  }
  return {.sealed = true};
}

}  // namespace paddle::sealed
