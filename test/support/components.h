// SPDX-License-Identifier: Apache-2.0
//
// The paths of real components: $PADDLE_COMPONENTS/bin/<name> when that variable is set (the test
// runner sets it), otherwise where tools/components has installed the pinned version.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::test {

// kNotFound names the command that installs it.
Result<std::string> component(const std::string& name);

}  // namespace paddle::test
