// SPDX-License-Identifier: Apache-2.0
//
// Translates errno of system calls on /dev/fuse and of mount(2) into Error. errno_table.h is the
// opposite direction.

#pragma once

#include <string_view>

#include "base/result.h"

namespace paddle::fuse {

Error device_error(std::string_view doing, int error);

}  // namespace paddle::fuse
