// SPDX-License-Identifier: Apache-2.0
//
// Fetches the status of the cache runtimes of a SampleSet through their API (docs/design/0006: the
// names of pods and Secret, the port). A runtime that does not answer has an error instead.

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
  std::string error{};  // set when there is no report
};

// In the order of the partitions; empty when the set has no runtime pods yet.
Result<std::vector<RuntimeReport>> fetch_runtime_reports(Session& session, const api::Json& set);

}  // namespace paddle::cli
