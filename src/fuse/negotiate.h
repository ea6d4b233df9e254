// SPDX-License-Identifier: Apache-2.0
//
// What INIT negotiates with the kernel.
//
//   negotiate(offer, wishes) -> Negotiated
//
// Pure. Only features that the kernel offered are used; each missing one has a slower fallback that
// still reads correctly (the matrix is in docs/design/0005-fuse.md). A Negotiated outlives the
// process: a successor that takes over the descriptor gets no second INIT, so the value has a text
// form.

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
  // Limits of requests in the background (read-ahead), and of those after which the kernel treats
  // the mount as congested. Beyond max_background every reader waits in the kernel, readers of
  // cached files too; so it exceeds the number of readers that may wait for a source that does not
  // answer.
  std::uint16_t max_background = 4096;
  std::uint16_t congestion_threshold = 3072;
  bool no_open = true;                // false: reply to OPEN and OPENDIR, as older kernels need
  bool adaptive_readdirplus = false;  // true: attributes only where they are read
};

struct Negotiated {
  std::uint32_t minor = 0;
  std::uint64_t flags = 0;  // supported by both sides
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
