// SPDX-License-Identifier: Apache-2.0
//
// Whether a node can have sealed views, decided from what its kernel showed with a tiny image on
// the file system of the cache. "No" carries one sentence for the status of a set. Pure.
//
// A version is asked for besides, because one defect does not show in a probe: before eade54040384
// a read that a SIGKILL cut short left zeros in the page cache, marked as good. The fix is in
// 6.12.80, 6.18.21, 6.19.11 and 7.0; that of CVE-2026-23224 is older in each of these lines.
// Kernels of other lines are refused: whether a distribution has carried the fix over is not known.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle::sealed {

struct KernelVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const KernelVersion&) const = default;
};
// "6.18.44-fc-v509" and "6.12"; nothing for other texts.
std::optional<KernelVersion> parse_kernel_version(std::string_view release);

// Nothing when the version has the fixes; else one sentence.
std::string why_kernel_is_unfit(std::string_view release);

struct ProbeObservation {
  std::string release{};         // uname -r
  std::string file_system{};     // of the cache, for messages; may be empty
  bool cache_in_memory = false;  // every byte of a view would be there twice
  int immutable_error = 0;       // errno of making a segment immutable; 0: it worked
  int direct_error = 0;          // errno of opening a segment with O_DIRECT
  int mount_error = 0;           // errno of mounting
  std::string mount_message{};   // what the kernel logged about it
  int read_error = 0;            // errno of reading a file of the view
  bool right_bytes = false;      // what was read is what the segment has
  int beyond_end_error = 0;      // errno of reading a file whose extent lies beyond the segment
  bool beyond_end_read = false;  // that read returned bytes instead
};

struct ProbeResult {
  bool sealed = false;
  std::string reason{};  // one sentence when not
  bool operator==(const ProbeResult&) const = default;
};

ProbeResult judge(const ProbeObservation& seen);

}  // namespace paddle::sealed
