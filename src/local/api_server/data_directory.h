// SPDX-License-Identifier: Apache-2.0
//
// Files that only their owner may read: the directory of the embedded server, its database, its
// token. Each function does the same thing when it is called again.

#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::local {

// Mode 0700; refuses a path that is not a directory of this user.
Result<> make_private_directory(const std::string& path);

// Mode 0600; made empty when it is not there, refused when it is a link.
Result<> make_private_file(const std::string& path);

// The content of a private file, made empty when it is not there; at most 64 KiB.
Result<std::string> read_private(const std::string& path);
// Written beside, synced and renamed, so that nobody ever sees half of it.
Result<> replace_private(const std::string& path, const std::string& text);

// kUnavailable when another process holds it. Held until the descriptor is closed or the process
// ends, however it ends.
Result<UniqueFd> lock_directory(const std::string& path);

// The token in <directory>/token; made of 256 random bits the first time. kInvalid when the file
// holds something that can not be a token.
Result<std::string> load_token(const std::string& directory);

}  // namespace paddle::local
