// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_client.h"

namespace paddle::runtime {

Result<PollReport> RuntimeClient::poll(const std::vector<std::string>& ids, std::stop_token stop) {
  PollReport report;
  std::vector<JobReport>& found = report.jobs.emplace();
  for (const std::string& id : ids) {
    if (id == kAllJobs) {
      TRY(found, jobs(stop));
      break;
    }
    auto known = job(id, stop);
    if (!known && !known.is(Code::kNotFound)) return std::move(known).error();
    if (known) found.push_back(*std::move(known));
  }
  TRY(report.status, status(stop));
  return report;
}

}  // namespace paddle::runtime
