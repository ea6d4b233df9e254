// SPDX-License-Identifier: Apache-2.0
//
// The command line of `juicefs sync` for one task. Pure. It names the volume by an environment
// variable with the metadata URL, so it has no secret.

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
  kCopy,    // runs the task
  kList,    // prints what the task would copy, and changes nothing
  kDelete,  // deletes at the destination what the source does not have, and copies nothing
};

// The arguments after the program. The set is the directory `sub_dir` of the volume. kInvalid: a
// path leaves the set.
Result<std::vector<std::string>> sync_arguments(const SourceAccess& source, const SyncTask& task,
                                                const std::string& sub_dir = {},
                                                SyncAction action = SyncAction::kCopy);

}  // namespace paddle::engine::juicefs
