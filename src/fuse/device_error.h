// SPDX-License-Identifier: Apache-2.0
//
// Errors of system calls on /dev/fuse and of mount(2), as our own. The other direction is
// errno_table.h.

#pragma once

#include <string_view>

#include "base/result.h"

namespace paddle::fuse {

Error device_error(std::string_view doing, int error);

}  // namespace paddle::fuse
