// SPDX-License-Identifier: Apache-2.0
#include "fuse/negotiate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace paddle::fuse {
namespace {

// The largest request of a kernel without FUSE_MAX_PAGES.
constexpr std::uint32_t kDefaultPages = 32;
constexpr std::uint32_t kMostPages = 256;  // FUSE_MAX_MAX_PAGES, or fs.fuse.max_pages_limit
// We never accept a WRITE; the kernel's own minimum keeps request buffers small.
constexpr std::uint32_t kMaxWrite = 4096;

std::uint64_t wanted(const InitOptions& options) {
  // Left out on purpose: FUSE_ATOMIC_O_TRUNC (would make O_TRUNC a message), FUSE_AUTO_INVAL_DATA
  // (would throw pages away for a changed mtime: content is named by node), FUSE_WRITEBACK_CACHE,
  // FUSE_EXPORT_SUPPORT (would make us answer LOOKUP of ".." by node id).
  std::uint64_t flags = FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS | FUSE_MAX_PAGES |
                        FUSE_EXPLICIT_INVAL_DATA | FUSE_DO_READDIRPLUS | FUSE_ABORT_ERROR |
                        FUSE_INIT_EXT | FUSE_HAS_EXPIRE_ONLY | kHasResend;
  if (options.no_open) flags |= FUSE_NO_OPEN_SUPPORT | FUSE_NO_OPENDIR_SUPPORT;
  if (options.adaptive_readdirplus) flags |= FUSE_READDIRPLUS_AUTO;
  return flags;
}

}  // namespace

Result<Negotiated> negotiate(const Init& offer, const InitOptions& options) {
  if (offer.major != kMajor || offer.minor < kMinMinor) {
    return Error{Code::kInvalid, "FUSE protocol " + std::to_string(offer.major) + "." +
                                     std::to_string(offer.minor) + " is not supported, 7." +
                                     std::to_string(kMinMinor) + " or newer is"};
  }
  Negotiated agreed;
  agreed.minor = std::min(offer.minor, kMinor);
  agreed.flags = offer.flags & wanted(options);
  if (!agreed.has(FUSE_INIT_EXT)) agreed.flags &= 0xffffffff;
  agreed.max_readahead = options.max_readahead;
  const std::uint32_t most =
      options.page_size * (agreed.has(FUSE_MAX_PAGES) ? kMostPages : kDefaultPages);
  agreed.max_read =
      std::clamp(options.max_read / options.page_size * options.page_size, options.page_size, most);
  agreed.max_pages = static_cast<std::uint16_t>(agreed.max_read / options.page_size);
  agreed.max_background = std::max<std::uint16_t>(options.max_background, 1);
  agreed.congestion_threshold =
      std::clamp<std::uint16_t>(options.congestion_threshold, 1, agreed.max_background);
  return agreed;
}

fuse_init_out encode_init(const Negotiated& agreed) {
  fuse_init_out out{};
  out.major = kMajor;
  out.minor = agreed.minor;
  out.max_readahead = agreed.max_readahead;
  out.flags = static_cast<std::uint32_t>(agreed.flags);
  if (agreed.has(FUSE_INIT_EXT)) out.flags2 = static_cast<std::uint32_t>(agreed.flags >> 32);
  out.max_background = agreed.max_background;
  out.congestion_threshold = agreed.congestion_threshold;
  out.max_write = kMaxWrite;
  out.time_gran = 1000;  // base/clock.h counts microseconds
  if (agreed.has(FUSE_MAX_PAGES)) out.max_pages = agreed.max_pages;
  return out;
}

std::string to_text(const Negotiated& agreed) {
  std::string text = "fuse1";
  for (const std::uint64_t value :
       {std::uint64_t{agreed.minor}, agreed.flags, std::uint64_t{agreed.max_readahead},
        std::uint64_t{agreed.max_read}, std::uint64_t{agreed.max_pages},
        std::uint64_t{agreed.max_background}, std::uint64_t{agreed.congestion_threshold}}) {
    text += ' ' + std::to_string(value);
  }
  return text + "\n";
}

Result<Negotiated> negotiated_from_text(std::string_view text) {
  const Error bad{Code::kInvalid, "not a saved FUSE negotiation"};
  std::array<std::uint64_t, 7> values{};
  constexpr std::string_view kStart = "fuse1";
  if (!text.starts_with(kStart) || !text.ends_with("\n")) return bad;
  const char* at = text.data() + kStart.size();
  const char* const end = text.data() + text.size() - 1;
  for (std::uint64_t& value : values) {
    if (at == end || *at != ' ') return bad;
    const auto [after, failure] = std::from_chars(at + 1, end, value);
    if (failure != std::errc{}) return bad;
    at = after;
  }
  if (at != end) return bad;
  constexpr auto kMost32 = std::numeric_limits<std::uint32_t>::max();
  constexpr auto kMost16 = std::numeric_limits<std::uint16_t>::max();
  if (values[0] > kMost32 || values[2] > kMost32 || values[3] > kMost32 || values[4] > kMost16 ||
      values[5] > kMost16 || values[6] > kMost16) {
    return bad;
  }
  if (values[0] < kMinMinor || values[3] == 0) return bad;
  return Negotiated{static_cast<std::uint32_t>(values[0]), values[1],
                    static_cast<std::uint32_t>(values[2]), static_cast<std::uint32_t>(values[3]),
                    static_cast<std::uint16_t>(values[4]), static_cast<std::uint16_t>(values[5]),
                    static_cast<std::uint16_t>(values[6])};
}

}  // namespace paddle::fuse
