// SPDX-License-Identifier: Apache-2.0
//
// The messages of polls (protocol.h).

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/protocol/protocol.h"

namespace paddle::runtime {

using api::Json;

constexpr std::size_t kMostJobsInQuery = 100;  // beyond that all are reported: a URL is limited

std::string poll_path(const std::vector<std::string>& jobs) {
  const std::string path = "/v1/status?jobs=";
  const bool all = std::ranges::find(jobs, kAllJobs) != jobs.end();
  if (all || jobs.size() > kMostJobsInQuery) return path + kAllJobs;
  std::string ids;
  for (const std::string& id : jobs) ids += (ids.empty() ? "" : ",") + id;
  return path + ids;
}

std::optional<std::vector<std::string>> jobs_of_query(const std::string& query) {
  constexpr std::string_view kName = "jobs=";
  std::size_t at = 0;
  while (at < query.size() && !std::string_view(query).substr(at).starts_with(kName)) {
    at = std::min(query.find('&', at), query.size() - 1) + 1;
  }
  if (at >= query.size()) return std::nullopt;
  const std::string text = query.substr(at + kName.size(), query.find('&', at) - at - kName.size());
  std::vector<std::string> ids;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string id = text.substr(from, comma - from);
    if (id == kAllJobs || is_job_id(id)) ids.push_back(id);
    from = comma + 1;
  }
  return ids;
}

Json encode(const PollReport& report) {
  Json json = encode(report.status);
  if (!report.jobs) return json;
  json["jobs"] = Json::array();
  for (const JobReport& job : *report.jobs) json["jobs"].push_back(encode(job));
  return json;
}

Result<PollReport> decode_poll_report(const Json& from) {
  PollReport report;
  TRY(report.status, decode_status_report(from));
  const auto jobs = from.find("jobs");
  if (jobs == from.end()) return report;
  if (!jobs->is_array()) return Error{Code::kInvalid, "jobs is not a list"};
  report.jobs.emplace();
  for (const Json& each : *jobs) {
    TRY(JobReport job, decode_job_report(each));
    report.jobs->push_back(std::move(job));
  }
  return report;
}

}  // namespace paddle::runtime
