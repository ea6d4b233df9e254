// SPDX-License-Identifier: Apache-2.0
//
// Asks the cache runtimes of a SampleSet for their own figures, through their API
// (docs/design/0006: the names of pods and Secret, the port). One that does not answer says why;
// the others count.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "cli/session.h"
#include "runtime/protocol/protocol.h"

namespace paddle::cli {

struct RuntimeReport {
  std::string pod{};
  std::optional<runtime::StatusReport> report{};
  std::string error{};  // why there is no report
};

// In the order of the partitions; empty when the set has no runtime pods yet.
Result<std::vector<RuntimeReport>> fetch_runtime_reports(Session& session, const api::Json& set);

}  // namespace paddle::cli
