// SPDX-License-Identifier: Apache-2.0
//
// Makes sure that a volume exists, before anybody mounts it: `juicefs format` where there is none
// yet. A volume that exists is left as it is, but for its keys when that is asked for: JuiceFS
// tries them before it writes them, and every client takes them up within seconds. Keys and the
// password of the metadata go by environment.

#pragma once

#include <stop_token>

#include "base/result.h"
#include "engine/juicefs/node/command/format_command.h"

namespace paddle::engine::juicefs {

// An error is one sentence and holds no secret.
Result<> ensure_formatted(const FormatOptions& options, std::stop_token stop);

}  // namespace paddle::engine::juicefs
