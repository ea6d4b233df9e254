// SPDX-License-Identifier: Apache-2.0
//
// Opens and reads what an untrusted process wrote below a directory of ours: no symbolic link, no
// way out of the directory or onto another file system, no device or pipe is opened, no second name
// (hard link) of another user's file, and nothing is mapped (a truncated mapping would be
// SIGBUS for the whole process). Thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::sealed {

// A directory of ours, by its path, which is trusted.
Result<UniqueFd> open_directory(const std::string& path);

// A regular file with one name, for reading; `path` is relative to the directory. With `owner` it
// has to be that user's. kNotFound, or kInvalid with the reason.
Result<UniqueFd> open_beneath(int directory, const std::string& path,
                              std::optional<uid_t> owner = std::nullopt);

// The same file opened again with other flags: a new file description.
Result<UniqueFd> open_again(int file, int flags);

Result<std::uint64_t> size_of(int file);
// On tmpfs or ramfs.
Result<bool> lies_in_memory(int file);
// Fills `into`; kInvalid when the file ends before.
Result<> read_exactly(int file, std::uint64_t offset, std::span<std::byte> into);
// All bytes, copied once. kInvalid when there are more than `max_bytes`.
Result<std::string> copy_of(int file, std::uint64_t max_bytes);

}  // namespace paddle::sealed
