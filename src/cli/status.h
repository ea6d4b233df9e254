// SPDX-License-Identifier: Apache-2.0
//
// `status`: prints what runs, and for each SampleSet the status of its runtimes: what is cached,
// and from where readers got their bytes. The JSON format is stable; --help documents it.

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
