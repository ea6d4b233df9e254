// SPDX-License-Identifier: Apache-2.0
//
// Gives the calling process the user, groups and capabilities of its container. Call it last before
// exec, in a process of one thread: afterwards nothing of the machine can be set up any more.

#pragma once

#include "base/result.h"
#include "local/node/security_context.h"

namespace paddle::local {

// The process's output becomes the user's own, so that /dev/stdout can be opened again.
Result<> drop_privileges(const SecurityContext& context);

}  // namespace paddle::local
