// SPDX-License-Identifier: Apache-2.0
//
// The command line of `juicefs sync` for one task. Pure. The volume is named by a variable of the
// environment that holds its metadata URL, so the command line has no secret.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/juicefs/node/command/source_access.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// One call of juicefs.
struct CommandLine {
  std::vector<std::string> argv{};
  std::vector<std::string> env{};  // "NAME=value", the whole environment
};

inline constexpr const char* kVolumeVariable = "PADDLE_VOLUME";

enum class SyncAction {
  kCopy,    // all that the task says
  kList,    // says what it would copy, and does nothing
  kDelete,  // deletes at the destination what the source does not have, and copies nothing
};

// Arguments after the program; the set is `sub_dir` of the volume. kInvalid: a path that leaves the
// set, or an option that can not be said.
Result<std::vector<std::string>> sync_arguments(const SourceAccess& source, const SyncTask& task,
                                                const std::string& sub_dir = {},
                                                SyncAction action = SyncAction::kCopy);

}  // namespace paddle::engine::juicefs
