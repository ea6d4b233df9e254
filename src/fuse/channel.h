// SPDX-License-Identifier: Apache-2.0
//
// One descriptor of a FUSE connection: receives requests, sends replies and notifications.
//
// A reply must be sent through the channel that delivered its request: the kernel keeps unanswered
// requests per descriptor. For the same reason requests that were read from a cloned descriptor
// fail when it is closed with its process, while those of a descriptor that another process also
// holds do not: a connection that must survive its daemon uses only descriptors that a second
// process holds (see kNotifyResend).
//
// Thread-safe: any number of threads may receive and send at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "fuse/protocol.h"

namespace paddle::fuse {

// Smallest buffer receive() takes; room for many forgets at once. The kernel wants at least 8 KiB.
inline constexpr std::size_t kRequestBuffer = 32UL * 1024;

enum class ChannelStatus {
  kOk,
  kAgain,      // no request: a signal, or the kernel withdrew it
  kUnmounted,  // the mount is gone
  kAborted,    // the connection was aborted
  kBroken,     // the descriptor does not work
};

struct Received {
  ChannelStatus status = ChannelStatus::kAgain;
  std::size_t size = 0;
};

class Channel {
 public:
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}

  Received receive(std::span<std::byte> into) const;

  // `error` is a positive errno or 0. kAgain: the kernel no longer waits for the reply.
  ChannelStatus reply(std::uint64_t unique, int error, std::span<const std::byte> body) const;

  // Makes the kernel send every unanswered request of this connection again.
  Result<> resend() const;
  // Makes the kernel drop one cached name, negative entries included. It takes locks of the
  // directory: never call it while answering a request.
  Result<> invalidate_entry(std::uint64_t parent, std::string_view name) const;
  // Makes the kernel drop a cached listing (with no-opendir it would keep it for ever).
  Result<> invalidate_listing(std::uint64_t directory) const;
  // Makes the kernel drop every cached name. kInvalid where the kernel cannot (before Linux 6.16).
  Result<> increase_epoch() const;

  // Whether `fd` is a descriptor of the same open file. False where the kernel can be asked only in
  // ways that this process has no right to (before Linux 6.10).
  bool is_file_of(int fd) const;

  int fd() const { return fd_.get(); }

 private:
  Result<> notify(std::int32_t code, std::span<const std::byte> head, std::string_view name,
                  std::string_view doing) const;

  UniqueFd fd_;
};

// Opens /dev/fuse; the descriptor is not connected yet.
Result<UniqueFd> open_device();
// Returns `count` more descriptors of the connection behind `fd`.
Result<std::vector<UniqueFd>> clone_device(int fd, std::size_t count);

}  // namespace paddle::fuse
