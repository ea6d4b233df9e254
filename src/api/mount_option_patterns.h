// SPDX-License-Identifier: Apache-2.0
//
// What texts among JuiceFS's mount options may look like, for the CRD and for the code that passes
// them on. The CSI driver puts them into a command line of `sh -c` and quotes them for another
// shell than the one that runs it, so no character that a shell knows may be in them.

#pragma once

namespace paddle::api {

// host:port, [address]:port or :port.
inline constexpr const char* kMountAddress = "^([A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$";
// A directory of the volume; a segment ".." is another rule (kUpwards).
inline constexpr const char* kMountSubDir = "^[A-Za-z0-9._/-]+$";
// Directories of a node, separated by colons; or the word `memory`.
inline constexpr const char* kMountCacheDir = "^[A-Za-z0-9._/:@%+-]*$";
// At least 0 and less than 1.
inline constexpr const char* kMountRatio = "^\\+?(0+\\.?|0*\\.[0-9]+)([eE]-[0-9]+)?$";

}  // namespace paddle::api
