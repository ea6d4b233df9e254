// SPDX-License-Identifier: Apache-2.0
//
// The messages of polls (protocol.h).

#include <algorithm>
#include <map>
#include <numeric>

#include <nlohmann/json.hpp>

#include "runtime/protocol/protocol.h"

namespace paddle::runtime {

using api::Json;

// A status has less than 16 KiB: its texts are a few sentences and kMostExamples paths.
constexpr std::size_t kLongestJobList = kLongestAnswer - (std::size_t{16} << 10);
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

Json encode_jobs(const std::vector<JobReport>& jobs) {
  std::vector<std::size_t> order(jobs.size());  // the most important first
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return !ended(jobs[i].state); });
  std::size_t room = kLongestJobList;
  std::map<std::size_t, Json> kept;
  for (const std::size_t i : order) {
    Json json = encode(jobs[i]);
    const std::size_t size = api::dump_json(json).size() + 1;
    if (size > room) break;
    room -= size;
    kept.emplace(i, std::move(json));
  }
  Json list = Json::array();
  for (auto& [i, json] : kept) list.push_back(std::move(json));
  return list;
}

Json encode(const PollReport& report) {
  Json json = encode(report.status);
  if (report.jobs) json["jobs"] = encode_jobs(*report.jobs);
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
