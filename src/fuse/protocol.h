// SPDX-License-Identifier: Apache-2.0
//
// The kernel's FUSE wire format: <linux/fuse.h> of the build machine (Debian 12 ships 7.38), and
// constants for what newer kernels added. Structures that grew only grew into reserved words, so
// one header serves every kernel from kMinMinor on; the sizes we rely on are asserted here.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <linux/fuse.h>

namespace paddle::fuse {

inline constexpr std::uint32_t kMajor = 7;
inline constexpr std::uint32_t kMinor = 45;     // the newest that this code knows (Linux 6.18)
inline constexpr std::uint32_t kMinMinor = 23;  // Linux 3.15: init_out of 64 bytes, no-open

// INIT flags after 7.38.
inline constexpr std::uint64_t kHasResend = 1ULL << 39;  // 7.40, Linux 6.9

// Set in a request's id when the kernel resends it; the reply carries the id as received.
inline constexpr std::uint64_t kUniqueResend = 1ULL << 63;

// Notifications after 7.38.
inline constexpr std::int32_t kNotifyResend = 7;         // 7.40, Linux 6.9
inline constexpr std::int32_t kNotifyIncreaseEpoch = 8;  // 7.44, Linux 6.16

// Opcodes after 7.38.
inline constexpr std::uint32_t kOpStatx = 52;            // 7.39, Linux 6.6
inline constexpr std::uint32_t kOpCopyFileRange64 = 53;  // 7.45, Linux 6.18

// Opcodes below this one have a counter each; all others share one.
inline constexpr std::uint32_t kKnownOpcodes = 54;

// NAME_MAX of Linux. The kernel fails a whole READDIR for one invalid name.
inline constexpr std::size_t kNameMax = 255;

static_assert(sizeof(fuse_in_header) == 40);
static_assert(sizeof(fuse_out_header) == 16);
static_assert(sizeof(fuse_init_in) == 64);
static_assert(offsetof(fuse_init_in, flags2) == 16);
static_assert(sizeof(fuse_init_out) == 64);
static_assert(sizeof(fuse_entry_out) == 128);
static_assert(sizeof(fuse_attr_out) == 104);
static_assert(sizeof(fuse_attr) == 88);
static_assert(sizeof(fuse_read_in) == 40);
static_assert(sizeof(fuse_open_out) == 16);
static_assert(sizeof(fuse_statfs_out) == 80);
static_assert(sizeof(fuse_dirent) == 24);
static_assert(sizeof(fuse_direntplus) == 152);
static_assert(sizeof(fuse_notify_inval_entry_out) == 16);
static_assert(sizeof(fuse_getxattr_in) == 8);
static_assert(sizeof(fuse_getxattr_out) == 8);

// "read", "lookup"; "other" for an unknown opcode.
std::string_view opcode_name(std::uint32_t opcode);

}  // namespace paddle::fuse
