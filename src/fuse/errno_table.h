// SPDX-License-Identifier: Apache-2.0
//
// The one place where our errors become the kernel's.
//
// Never ENOSYS (the kernel would stop asking for good), EINTR or EAGAIN (programs would ask again
// in a circle, or take it for "no data yet" on a file that has data), and never 0.

#pragma once

#include "base/result.h"

namespace paddle::fuse {

int errno_of(Code code);

}  // namespace paddle::fuse
