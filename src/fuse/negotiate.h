// SPDX-License-Identifier: Apache-2.0
//
// What we and a kernel agree on at INIT.
//
//   negotiate(offer, wishes) -> Negotiated
//
// Pure. Every feature we use is one the kernel offered; every one it lacks has a slower way that
// still reads right (the matrix is in docs/design/0005-fuse.md). A Negotiated outlives the process:
// a successor that takes over the descriptor gets no second INIT and needs it, hence the text form.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fuse/request.h"

namespace paddle::fuse {

struct InitOptions {
  std::uint32_t max_read = 1 << 20;  // bytes of one READ; whole pages, at least one
  std::uint32_t page_size = 4096;    // of this machine
  std::uint32_t max_readahead = 1 << 20;
  // Read-ahead: how many requests at once, and from when on the kernel calls us congested. Beyond
  // the first every reader waits in the kernel, those of cached files too; so it is more than there
  // are readers of a source that does not answer.
  std::uint16_t max_background = 4096;
  std::uint16_t congestion_threshold = 3072;
  bool no_open = true;                // false: answer OPEN and OPENDIR, as older kernels need
  bool adaptive_readdirplus = false;  // true: attributes only for directories that get stat'ed
};

struct Negotiated {
  std::uint32_t minor = 0;
  std::uint64_t flags = 0;  // what both sides know
  std::uint32_t max_readahead = 0;
  std::uint32_t max_read = 0;
  std::uint16_t max_pages = 0;
  std::uint16_t max_background = 0;
  std::uint16_t congestion_threshold = 0;

  bool has(std::uint64_t flag) const { return (flags & flag) != 0; }
  bool no_open() const { return has(FUSE_NO_OPEN_SUPPORT); }
  bool no_opendir() const { return has(FUSE_NO_OPENDIR_SUPPORT); }
  bool can_resend() const { return has(kHasResend); }
  bool operator==(const Negotiated&) const = default;
};

// kInvalid: a protocol older than 7.23, or another major version.
Result<Negotiated> negotiate(const Init& offer, const InitOptions& options);

fuse_init_out encode_init(const Negotiated& agreed);

// One line, versioned; from_text(to_text(x)) == x. Anything else is kInvalid.
std::string to_text(const Negotiated& agreed);
Result<Negotiated> negotiated_from_text(std::string_view text);

}  // namespace paddle::fuse
