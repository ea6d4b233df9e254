// SPDX-License-Identifier: Apache-2.0
//
// One descriptor of a FUSE connection: a request in, its answer out, a notification out.
//
// An answer must leave through the channel its request came from: the kernel keeps unanswered
// requests per descriptor. For the same reason a clone that dies with its process fails what it had
// read, while the descriptor that somebody else holds as well does not: a connection that must
// survive its daemon uses only descriptors that the keeper holds (see kNotifyResend).
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
inline constexpr std::size_t kRequestBuffer = 32 * 1024;

enum class ChannelStatus {
  kOk,
  kAgain,      // nothing happened: a signal, or the request was taken back
  kUnmounted,  // the mount is gone
  kAborted,    // somebody aborted the connection
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

  // `error` is a positive errno or 0. kAgain: nobody waits for the answer any more.
  ChannelStatus reply(std::uint64_t unique, int error, std::span<const std::byte> body) const;

  // The kernel sends every unanswered request of this connection again.
  Result<> resend() const;
  // Forgets one name (also one that it believed absent). Takes locks of the directory: never call
  // it while answering a request.
  Result<> invalidate_entry(std::uint64_t parent, std::string_view name) const;
  // Forgets what it keeps of a listing (with no-opendir the kernel keeps it for good).
  Result<> invalidate_listing(std::uint64_t directory) const;
  // Forgets every name it was told before. kInvalid where the kernel can not (before Linux 6.16).
  Result<> increase_epoch() const;

  int fd() const { return fd_.get(); }

 private:
  Result<> notify(std::int32_t code, std::span<const std::byte> head, std::string_view name,
                  std::string_view doing) const;

  UniqueFd fd_;
};

// /dev/fuse, not connected to anything yet.
Result<UniqueFd> open_device();
// `count` more descriptors of the connection behind `fd`.
Result<std::vector<UniqueFd>> clone_device(int fd, std::size_t count);

}  // namespace paddle::fuse
