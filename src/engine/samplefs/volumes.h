// SPDX-License-Identifier: Apache-2.0
//
// Names of volumes and paths that operator, node and runtime share (docs/design/0006). Pure.

#pragma once

namespace paddle::engine::samplefs {

inline constexpr const char* kDriver = "samplefs.csi.paddlepaddle.org";

// volumeAttributes of the runtime's inline volumes.
inline constexpr const char* kVolumeAttribute = "volume";
inline constexpr const char* kHandleAttribute = "handle";
inline constexpr const char* kPathAttribute = "path";
inline constexpr const char* kCacheVolume = "cache";
inline constexpr const char* kSessionVolume = "session";

// Paths in the runtime's container.
inline constexpr const char* kCachePath = "/cache";  // + "/<i>"
inline constexpr const char* kSessionPath = "/run/paddle-cache";
inline constexpr const char* kKeysPath = "/run/paddle-cache-keys";  // in memory
inline constexpr const char* kTokenPath = "/etc/paddle-cache/token";
inline constexpr const char* kSourceSecretPath = "/etc/paddle-cache/source";

inline constexpr const char* kAttachSocket = "attach.sock";

}  // namespace paddle::engine::samplefs
