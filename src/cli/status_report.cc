// SPDX-License-Identifier: Apache-2.0
#include "cli/status_report.h"

#include <algorithm>

#include "api/json/look.h"
#include "api/phases.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/wait_condition.h"

namespace paddle::cli {
namespace {

using api::Json;

bool is_ready(const Json& node) {
  const Json* condition = condition_of(node, "Ready");
  return condition && api::look_text(*condition, "status") == "True";
}

std::string address_of(const Json& node) {
  for (const Json& each : api::look_list(node, "/status/addresses")) {
    if (api::look_text(each, "type") == "InternalIP") return api::look_text(each, "address");
  }
  return {};
}

std::int64_t in_phase(const std::vector<Json>& pods, const std::string& phase) {
  return std::ranges::count_if(
      pods, [&](const Json& pod) { return api::look_text(pod, "/status/phase") == phase; });
}

Json head_of(const Json& object) {
  return {{"namespace", api::look_text(object, "/metadata/namespace")},
          {"name", api::look_text(object, "/metadata/name")},
          {"phase", api::look_text(object, "/status/phase")},
          {"message", explanation(object)}};
}

Json reads_json(const runtime::ReadsReport& reads) {
  return {{"fromCache", reads.from_cache},
          {"fromMemory", reads.from_memory},
          {"fromSource", reads.from_source},
          {"downloaded", reads.downloaded}};
}

// Each runtime sees the whole index and caches its part.
runtime::StatusReport sum_of(const std::vector<RuntimeReport>& runtimes) {
  runtime::StatusReport sum;
  for (const RuntimeReport& each : runtimes) {
    if (!each.report) continue;
    const auto& one = *each.report;
    if (one.index) sum.index = one.index;
    sum.cache.files += one.cache.files;
    sum.cache.bytes += one.cache.bytes;
    sum.cache.limit += one.cache.limit;
    sum.reads.from_cache += one.reads.from_cache;
    sum.reads.from_memory += one.reads.from_memory;
    sum.reads.from_source += one.reads.from_source;
    sum.reads.downloaded += one.reads.downloaded;
    sum.mounts += one.mounts;
  }
  return sum;
}

void add_counters(Json& to, const runtime::StatusReport& report) {
  to["totalBytes"] = report.index ? report.index->bytes : 0;
  to["totalFiles"] = report.index ? report.index->files : 0;
  to["cachedBytes"] = report.cache.bytes;
  to["cachedFiles"] = report.cache.files;
  to["reads"] = reads_json(report.reads);
}

Json set_json(const SampleSetReport& set) {
  Json made = head_of(set.object);
  add_counters(made, sum_of(set.runtimes));
  made["runtimes"] = Json::array();
  for (const RuntimeReport& each : set.runtimes) {
    const auto report = each.report.value_or(runtime::StatusReport{});
    Json one{{"pod", each.pod},
             {"error", each.error.empty() ? report.error : each.error},
             {"mounts", report.mounts},
             {"limitBytes", report.cache.limit}};
    add_counters(one, report);
    made["runtimes"].push_back(std::move(one));
  }
  return made;
}

std::string set_text(const SampleSetReport& set) {
  const auto sum = sum_of(set.runtimes);
  const std::int64_t total = sum.index ? sum.index->bytes : 0;
  std::string text = "sampleset " + api::look_text(set.object, "/metadata/namespace") + "/" +
                     api::look_text(set.object, "/metadata/name") + ": " +
                     progress_line(set.object) + "\n";
  for (const RuntimeReport& each : set.runtimes) {
    if (!each.error.empty()) text += "  " + each.pod + " does not answer: " + each.error + "\n";
  }
  if (!sum.index) return text;
  return text + align({{"  cached", human_bytes(sum.cache.bytes) + " of " + human_bytes(total)},
                       {"  downloaded", human_bytes(sum.reads.downloaded)},
                       {"  read from cache", human_bytes(sum.reads.from_cache)},
                       {"  read from memory", human_bytes(sum.reads.from_memory)},
                       {"  read from source", human_bytes(sum.reads.from_source)}});
}

}  // namespace

Json to_json(const ClusterReport& report) {
  Json made{{"running", report.running}, {"directory", report.directory}};
  if (!report.running) return made;
  made["pid"] = report.pid;
  made["url"] = report.url;
  made["kubeconfig"] = report.kubeconfig;
  made["nodes"] = Json::array();
  for (const Json& node : report.nodes) {
    made["nodes"].push_back({{"name", api::look_text(node, "/metadata/name")},
                             {"ready", is_ready(node)},
                             {"address", address_of(node)}});
  }
  made["pods"] = {{"total", report.pods.size()},
                  {"running", in_phase(report.pods, api::pod_phase::kRunning)},
                  {"pending", in_phase(report.pods, api::pod_phase::kPending)},
                  {"succeeded", in_phase(report.pods, api::pod_phase::kSucceeded)},
                  {"failed", in_phase(report.pods, api::pod_phase::kFailed)}};
  made["paddleJobs"] = Json::array();
  for (const Json& job : report.paddle_jobs) made["paddleJobs"].push_back(head_of(job));
  made["sampleSets"] = Json::array();
  for (const SampleSetReport& set : report.sample_sets) {
    made["sampleSets"].push_back(set_json(set));
  }
  return made;
}

std::string to_text(const ClusterReport& report) {
  std::vector<std::vector<std::string>> lines{{"directory", report.directory},
                                              {"process", std::to_string(report.pid)},
                                              {"API server", report.url},
                                              {"kubeconfig", report.kubeconfig}};
  for (const Json& node : report.nodes) {
    lines.push_back(
        {"node " + api::look_text(node, "/metadata/name"),
         (is_ready(node) ? "ready" : "not ready") + std::string(", ") + address_of(node)});
  }
  lines.push_back({"pods", std::to_string(report.pods.size()) + ", " +
                               std::to_string(in_phase(report.pods, api::pod_phase::kRunning)) +
                               " running"});
  std::string text = align(lines);
  for (const Json& job : report.paddle_jobs) {
    text += "paddlejob " + api::look_text(job, "/metadata/namespace") + "/" +
            api::look_text(job, "/metadata/name") + ": " + progress_line(job) + "\n";
  }
  for (const SampleSetReport& set : report.sample_sets) text += set_text(set);
  return text;
}

}  // namespace paddle::cli
