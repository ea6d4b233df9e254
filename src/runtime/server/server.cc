// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/server.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "engine/time_limits.h"
#include "runtime/protocol/protocol.h"

namespace paddle::runtime {
namespace {

using api::Json;

constexpr std::size_t kLongestBody = std::size_t{1} << 20;
// For the managers of SampleSets and SampleJobs, two replicas each.
constexpr int kKeptConnections = 8;
constexpr std::string_view kJobs = "/v1/jobs/";
constexpr std::string_view kLists = "/v1/lists/";

net::ServerReply reply(const Json& body, int status = 200) {
  return {
      .status = status, .body = api::dump_json(body) + "\n", .content_type = "application/json"};
}

net::ServerReply refuse(int status, const std::string& reason) {
  return reply(Json{{"error", reason}}, status);
}

int status_of(Code code) {
  switch (code) {
    case Code::kConflict:
      return 409;
    case Code::kInvalid:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kThrottled:
      return 429;
    default:
      return 503;
  }
}

StatusReport report_of(const std::string& engine, const engine::Status& status) {
  StatusReport report{.engine = engine,
                      .cache = {.files = status.cached_files.value_or(0),
                                .bytes = status.cached_bytes,
                                .limit = status.limit,
                                .disk_size = status.disk_size,
                                .disk_used = status.disk_used,
                                .disk_avail = status.disk_avail,
                                .life = status.life},
                      .reads = {.from_cache = status.from_cache,
                                .from_memory = status.from_memory,
                                .from_source = status.from_source,
                                .downloaded = status.downloaded},
                      .mounts = status.mounts,
                      .part_bytes = status.part_bytes,
                      .part_cached_bytes = status.part_cached_bytes,
                      .remark = status.remark,
                      .source_error = status.source_error};
  if (status.index) {
    report.index = IndexReport{.generation = status.index->generation,
                               .digest = status.index->digest,
                               .files = status.index->files,
                               .bytes = status.index->bytes,
                               .synced = status.index->synced,
                               .left_out = status.index->left_out};
  }
  return report;
}

}  // namespace

bool same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0u : 1u;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(given[i] ^ expected);
  }
  return difference == 0 && !secret.empty();
}

bool Server::is_authorized(const net::ServerRequest& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (!request.authorization.starts_with(kBearer)) return false;
  const auto given = std::string_view(request.authorization).substr(kBearer.size());
  bool may = false;
  for (const std::string& token : tokens_()) may |= same_secret(given, token);
  return may;
}

net::ServerReply Server::handle(const net::ServerRequest& request) {
  if (request.path == "/healthz" || request.path == "/readyz") return {.body = "ok\n"};
  if (!is_authorized(request)) return refuse(401, "the token of this runtime is required");
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path.starts_with(kJobs))
    return handle_job(request, request.path.substr(kJobs.size()));
  if (request.path.starts_with(kLists))
    return handle_list(request, request.path.substr(kLists.size()));
  const bool known =
      request.path == "/v1/jobs" || request.path == "/v1/status" || request.path == "/metrics";
  if (!known) return refuse(404, "no such path");
  if (!reads) return refuse(405, "only GET");
  if (request.path == "/metrics") {
    return {.body = metrics_.text(engine_.status()),
            .content_type = "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (request.path == "/v1/status") {
    // First: when it has ended, its effect is in the status below.
    const auto last_warm_up = jobs_.last_warm_up();
    PollReport report{.jobs = polled_jobs(request)};
    report.status = report_of(engine_.name(), engine_.status());
    report.status.synced_by = jobs_.latest_success(JobKind::kSync);
    report.status.last_warm_up = last_warm_up;
    return reply(encode(report));
  }
  return reply(Json{{"jobs", encode_jobs(jobs_.all())}});
}

// Of GET /v1/status?jobs=<id>,<id>; absent: no jobs were asked for.
std::optional<std::vector<JobReport>> Server::polled_jobs(const net::ServerRequest& request) const {
  const auto ids = jobs_of_query(request.query);
  if (!ids) return std::nullopt;
  if (std::ranges::find(*ids, kAllJobs) != ids->end()) return jobs_.all();
  std::vector<JobReport> found;
  for (const std::string& id : *ids) {
    if (auto job = jobs_.find(id)) found.push_back(*std::move(job));
  }
  return found;
}

// <job>/<partition>
net::ServerReply Server::handle_list(const net::ServerRequest& request, const std::string& which) {
  const auto slash = which.find('/');
  const std::string job = which.substr(0, slash);
  const std::string number = slash == which.npos ? "" : which.substr(slash + 1);
  std::int32_t partition = -1;
  const char* const end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, partition);
  if (!is_job_id(job) || error != std::errc{} || stopped != end || partition < 0) {
    return refuse(400, "the path of a list is <job>/<partition>");
  }
  if (request.method != "GET" && request.method != "HEAD") return refuse(405, "only GET");
  auto list = engine_.list_for(job, partition);
  if (list) return {.body = *std::move(list)};
  if (const auto known = jobs_.find(job); known && list.is(Code::kNotFound)) {
    if (ended(known->state)) return refuse(410, "job " + job + " has ended, its lists are gone");
    return refuse(503, "job " + job + " has not made its lists yet");
  }
  return refuse(status_of(list.error().code), list.error().message);
}

net::ServerReply Server::handle_job(const net::ServerRequest& request, const std::string& id) {
  if (!is_job_id(id)) {
    return refuse(400, "an id is 1 to 64 letters, digits, '-' and '.', not beginning with '.'");
  }
  if (request.method == "PUT") {
    const auto json = api::parse_json(request.body);
    if (!json) return refuse(400, json.error().message);
    const auto job = decode_job_request(*json);
    if (!job) return refuse(400, job.error().message);
    const auto report = jobs_.put(id, *job);
    if (!report) return refuse(status_of(report.error().code), report.error().message);
    return reply(encode(*report));
  }
  if (request.method == "DELETE") {
    jobs_.cancel(id);
    const auto report = jobs_.find(id);
    return reply(report ? encode(*report) : Json::object());
  }
  if (request.method != "GET" && request.method != "HEAD")
    return refuse(405, "only GET, PUT and DELETE");
  const auto report = jobs_.find(id);
  if (!report) return refuse(404, "unknown job " + id);
  return reply(encode(*report));
}

Result<std::unique_ptr<Server>> Server::start(const net::Address& address, Tokens tokens,
                                              JobRunner& jobs, engine::NodeEngine& engine,
                                              Metrics& metrics, const net::ServerTls& tls) {
  std::unique_ptr<Server> server(new Server(std::move(tokens), jobs, engine, metrics));
  net::ServerLimits limits;
  limits.body_bytes = kLongestBody;
  limits.header = engine::kRuntimeHeaderTimeout;
  limits.whole_request = engine::kRuntimeRequestTimeout;
  limits.kept = kKeptConnections;
  TRY(server->http_, net::HttpServer::start(
                         address,
                         [self = server.get()](const net::ServerRequest& request) {
                           return self->handle(request);
                         },
                         limits, tls));
  return server;
}

Result<std::unique_ptr<Server>> Server::start(const net::Address& address, Token token,
                                              JobRunner& jobs, engine::NodeEngine& engine,
                                              Metrics& metrics, const net::ServerTls& tls) {
  Tokens one = [token = std::move(token)] { return std::vector<std::string>{token()}; };
  return start(address, std::move(one), jobs, engine, metrics, tls);
}

}  // namespace paddle::runtime
