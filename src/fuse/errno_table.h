// SPDX-License-Identifier: Apache-2.0
//
// The only place that translates Code to errno.
//
// Never ENOSYS (the kernel would never send that request again), EINTR or EAGAIN (programs would
// retry in a loop, or take it for "no data yet"), and never 0.

#pragma once

#include "base/result.h"

namespace paddle::fuse {

int errno_of(Code code);

}  // namespace paddle::fuse
