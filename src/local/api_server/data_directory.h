// SPDX-License-Identifier: Apache-2.0
//
// Files with access for their owner only: the directory of the embedded server, its database, its
// token. All functions are idempotent.

#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::local {

// Mode 0700; rejects a path that is not a directory of this user.
Result<> make_private_directory(const std::string& path);

// Mode 0600; created empty if it does not exist; rejected if it is a link.
Result<> make_private_file(const std::string& path);

// Reads a private file, at most 64 KiB; creates it empty if it does not exist.
Result<std::string> read_private(const std::string& path);
// Replaces the file atomically: temporary file, fsync, rename.
Result<> replace_private(const std::string& path, const std::string& text);

// kUnavailable when another process holds the lock. It is held until the descriptor is closed or
// the process ends.
Result<UniqueFd> lock_directory(const std::string& path);

// The token in <directory>/token; 256 random bits, created on first use. kInvalid when the content
// of the file is not a valid token.
Result<std::string> load_token(const std::string& directory);

}  // namespace paddle::local
