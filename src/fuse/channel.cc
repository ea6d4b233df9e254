// SPDX-License-Identifier: Apache-2.0
#include "fuse/channel.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuse/device_error.h"

namespace paddle::fuse {
namespace {

iovec piece(const void* data, std::size_t size) { return {const_cast<void*>(data), size}; }

// Of Linux 6.10: 1 when both are descriptors of one open file.
constexpr int kDupfdQuery = 1024 + 3;

}  // namespace

// Not by inode: every connection is opened from one device.
bool Channel::is_file_of(int fd) const {
  if (const int same = ::fcntl(fd_.get(), kDupfdQuery, fd); same >= 0) return same == 1;
  // The seccomp profile of container runtimes refuses it.
  const pid_t self = ::getpid();
  return ::syscall(SYS_kcmp, self, self, KCMP_FILE, fd_.get(), fd) == 0;
}

Received Channel::receive(std::span<std::byte> into) const {
  const ssize_t got = ::read(fd_.get(), into.data(), into.size());
  if (got > 0) return {ChannelStatus::kOk, static_cast<std::size_t>(got)};
  if (got == 0) return {ChannelStatus::kUnmounted};  // only a socket that stands in for the kernel
  switch (errno) {
    case EINTR:
    case EAGAIN:
    case ENOENT:
      return {ChannelStatus::kAgain};
    case ENODEV:
      return {ChannelStatus::kUnmounted};
    case ECONNABORTED:
      return {ChannelStatus::kAborted};
    default:
      return {ChannelStatus::kBroken};
  }
}

ChannelStatus Channel::reply(std::uint64_t unique, int error,
                             std::span<const std::byte> body) const {
  if (error != 0) body = {};
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.error = -error;
  header.unique = unique;
  const iovec pieces[] = {piece(&header, sizeof header), piece(body.data(), body.size())};
  ssize_t sent = 0;
  do {
    sent = ::writev(fd_.get(), pieces, body.empty() ? 1 : 2);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(header.len)) return ChannelStatus::kOk;
  switch (sent < 0 ? errno : EIO) {
    case ENOENT:
      return ChannelStatus::kAgain;
    case ENODEV:
    case EPIPE:
      return ChannelStatus::kUnmounted;
    case ECONNABORTED:
      return ChannelStatus::kAborted;
    default:
      return ChannelStatus::kBroken;
  }
}

Result<> Channel::notify(std::int32_t code, std::span<const std::byte> head, std::string_view name,
                         std::string_view doing) const {
  fuse_out_header header{};
  header.error = code;
  const char zero = 0;
  const iovec pieces[] = {piece(&header, sizeof header), piece(head.data(), head.size()),
                          piece(name.data(), name.size()), piece(&zero, name.empty() ? 0 : 1)};
  std::size_t total = 0;
  for (const iovec& each : pieces) total += each.iov_len;
  header.len = static_cast<std::uint32_t>(total);
  if (::writev(fd_.get(), pieces, 4) == static_cast<ssize_t>(total)) return Done{};
  return device_error(doing, errno);
}

Result<> Channel::resend() const { return notify(kNotifyResend, {}, {}, "request a resend"); }

Result<> Channel::increase_epoch() const {
  return notify(kNotifyIncreaseEpoch, {}, {}, "increase the epoch");
}

Result<> Channel::invalidate_entry(std::uint64_t parent, std::string_view name) const {
  fuse_notify_inval_entry_out out{};
  out.parent = parent;
  out.namelen = static_cast<std::uint32_t>(name.size());
  auto notified = notify(FUSE_NOTIFY_INVAL_ENTRY, std::as_bytes(std::span(&out, 1)), name,
                         "invalidate an entry");
  if (notified.is(Code::kNotFound)) return Done{};  // the kernel does not remember it anyway
  return notified;
}

Result<> Channel::invalidate_listing(std::uint64_t directory) const {
  fuse_notify_inval_inode_out out{};
  out.ino = directory;  // all of it: from 0 to the end
  auto notified = notify(FUSE_NOTIFY_INVAL_INODE, std::as_bytes(std::span(&out, 1)), {},
                         "invalidate a listing");
  if (notified.is(Code::kNotFound)) return Done{};
  return notified;
}

Result<UniqueFd> open_device() {
  UniqueFd fd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fd) return device_error("open /dev/fuse", errno);
  return fd;
}

Result<std::vector<UniqueFd>> clone_device(int fd, std::size_t count) {
  std::vector<UniqueFd> clones;
  for (std::size_t i = 0; i < count; ++i) {
    TRY(UniqueFd clone, open_device());
    auto connected = static_cast<std::uint32_t>(fd);
    if (::ioctl(clone.get(), FUSE_DEV_IOC_CLONE, &connected) != 0) {
      return device_error("clone a FUSE channel", errno);
    }
    clones.push_back(std::move(clone));
  }
  return clones;
}

}  // namespace paddle::fuse
