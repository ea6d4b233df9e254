// SPDX-License-Identifier: Apache-2.0
//
// `down`: ends the local cluster: its pods, then everything else. Succeeds when none is running.

#pragma once

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Down {
  CommonFlags flags{};
  bool remove = false;  // removes the directory too: objects, caches, logs
  bool operator==(const Down&) const = default;
};

Result<> run(const Down& verb, const CommandContext& context);

}  // namespace paddle::cli
