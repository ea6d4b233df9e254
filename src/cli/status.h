// SPDX-License-Identifier: Apache-2.0
//
// `status`: what runs, and for each SampleSet what its runtimes say: what is cached and where the
// bytes that readers got came from. The JSON form is stable; --help shows it.

#pragma once

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Status {
  CommonFlags flags{};
  bool json = false;
  bool operator==(const Status&) const = default;
};

Result<> run(const Status& verb, const CommandContext& context);

}  // namespace paddle::cli
