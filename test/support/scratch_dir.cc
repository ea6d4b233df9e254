// SPDX-License-Identifier: Apache-2.0
#include "test/support/scratch_dir.h"

#include <cstdlib>

#include "base/log.h"

namespace paddle::test {

ScratchDir::ScratchDir() {
  auto started = Keeper::start();
  if (!started) {
    log::error("no scratch directory", {{"error", started.error().message}});
    std::abort();
  }
  keeper_ = *std::move(started);
}

}  // namespace paddle::test
