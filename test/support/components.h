// SPDX-License-Identifier: Apache-2.0
//
// Where the real components are. $PADDLE_COMPONENTS/bin/<name> when that variable is set (the test
// runner sets it), otherwise whatever tools/components says about the pinned version.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::test {

// kNotFound names the command that installs it.
Result<std::string> component(const std::string& name);

}  // namespace paddle::test
