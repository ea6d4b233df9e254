// SPDX-License-Identifier: Apache-2.0
//
// Whole small files: tokens, kubeconfigs. Bounded; a device, a pipe or a directory is refused.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::os {

// kNotFound when there is none, kInvalid when it is not a regular file or too large, kForbidden
// when it may not be read.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

}  // namespace paddle::os
