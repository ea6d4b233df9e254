// SPDX-License-Identifier: Apache-2.0
//
// Text checks with the semantics of the API server: RE2 regular expressions (linear time, so that
// hostile text cannot stall us) and lengths in characters, not in bytes. Thread-safe.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddle::api {

// Unanchored. Patterns come only from our own schemas: each is compiled once and kept.
bool matches_pattern(std::string_view text, const std::string& pattern);

// Number of Unicode code points in UTF-8 text.
size_t characters(std::string_view text);

// Patterns of the resources: the CRD refuses a text that does not match, and so does the code that
// passes the text on.
inline constexpr const char* kDns1123 = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
inline constexpr const char* kDns1035 = "^[a-z]([-a-z0-9]*[a-z0-9])?$";

// A segment ".." anywhere in a path, or in a list of paths separated by colons.
inline constexpr const char* kUpwards = "(^|[/:])\\.\\.([/:]|$)";

// Mount options of JuiceFS. The CSI driver puts them into a command line of `sh -c` and quotes them
// for a different shell than the one that runs it, so they must not contain any character that is
// special to a shell.
//
// host:port, [address]:port or :port.
inline constexpr const char* kMountAddress = "^([A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$";
// A directory of the volume; kUpwards excludes a segment "..".
inline constexpr const char* kMountSubDir = "^[A-Za-z0-9._/-]+$";
// Directories of a node, separated by colons; or the word `memory`.
inline constexpr const char* kMountCacheDir = "^[A-Za-z0-9._/:@%+-]*$";
// At least 0 and less than 1.
inline constexpr const char* kMountRatio = "^\\+?(0+\\.?|0*\\.[0-9]+)([eE]-[0-9]+)?$";

}  // namespace paddle::api
