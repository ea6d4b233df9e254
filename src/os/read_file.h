// SPDX-License-Identifier: Apache-2.0
//
// Reads whole files of a bounded size: tokens, kubeconfigs, journals.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::os {

// A regular file; a device, a pipe or a directory is refused, and never blocks. kNotFound when the
// file does not exist, kForbidden when it may not be read, kInvalid when it is not a regular file
// or larger than `max_bytes`.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

// What an open descriptor gives until its end, from its current position; it may be a pipe. `name`
// is for messages. kInvalid when it is larger than `max_bytes`, kUnavailable when reading fails.
Result<std::string> read_to_end(int fd, const std::string& name, size_t max_bytes);

}  // namespace paddle::os
