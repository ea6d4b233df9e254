// SPDX-License-Identifier: Apache-2.0
//
// Creates a volume before anything mounts it, unless it exists: `juicefs format`. An existing
// volume is left as it is, except for its keys with FormatOptions::update_keys: JuiceFS tries the
// new keys before it stores them, and every client uses them within seconds.

#pragma once

#include <stop_token>

#include "base/result.h"
#include "engine/juicefs/node/command/format_command.h"

namespace paddle::engine::juicefs {

// An error is one sentence and holds no secret.
Result<> ensure_formatted(const FormatOptions& options, std::stop_token stop);

}  // namespace paddle::engine::juicefs
