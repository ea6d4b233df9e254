// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/spec/job_type.h"

#include <algorithm>
#include <sstream>

#include "runtime/protocol/request_fields.h"

namespace paddle::controllers::sample_job {
namespace {

using runtime::JobKind;
using runtime::JobRequest;

// Users write the same path as "/train", "train/" and "./train".
std::string beneath_root(const std::string& path) {
  std::string clean;
  std::istringstream names(path);
  for (std::string each; std::getline(names, each, '/');) {
    if (each.empty() || each == ".") continue;
    clean += (clean.empty() ? "" : "/") + each;
  }
  return clean;
}

bool is_at_or_in(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

// Empty, which means the whole set, when one of them is its root.
std::vector<std::string> beneath_root(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const auto& path : paths) {
    std::string relative = beneath_root(path);
    if (relative.empty()) return {};
    out.push_back(std::move(relative));
  }
  return out;
}

std::vector<std::string> patterns(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each, ',');) {
    if (!each.empty()) all.push_back(each);
  }
  return all;
}

std::int32_t small(const std::optional<std::int64_t>& number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number.value_or(0), 0, 1'000));
}

Result<engine::SyncTask> sync_task(const api::SampleJob& job, const api::SampleSet& set) {
  const api::SyncOptions o = job.spec.sync.value_or(api::SyncOptions{});
  const bool has_source = set.spec.source && !set.spec.source->uri.empty();
  if (o.source.empty() && !has_source) {
    return Error{Code::kInvalid,
                 "neither the job nor its SampleSet has a source; set "
                 "syncOptions.source"};
  }
  if (!o.manager.empty()) {
    return Error{Code::kInvalid,
                 "syncOptions.manager is not supported, the runtimes divide the work themselves; "
                 "remove it"};
  }
  // JuiceFS has used globs since 1.0: a regular expression would silently match nothing.
  for (const std::string& pattern : {o.include, o.exclude}) {
    if (pattern.find_first_of("^$|(){}+\\") != pattern.npos || pattern.find(".*") == 0) {
      return Error{Code::kInvalid, "'" + pattern +
                                       "' looks like a regular expression; include and "
                                       "exclude take globs such as '*.jpg', separated by commas"};
    }
  }
  engine::SyncTask task{.source = o.source,
                        .destination = beneath_root(o.destination),
                        .start = o.start,
                        .end = o.end,
                        .include = patterns(o.include),
                        .exclude = patterns(o.exclude),
                        .threads = small(o.threads),
                        .megabits = o.bwlimit.value_or(0),
                        .update = o.update,
                        .force_update = o.force_update,
                        .perms = o.perms,
                        .dirs = o.dirs,
                        .dry = o.dry,
                        .delete_source = o.delete_src,
                        .delete_destination = o.delete_dst,
                        .no_https = o.no_https};
  // An include alone excludes nothing, but a user who writes one means only these.
  if (!task.include.empty() && task.exclude.empty()) task.exclude = {"*"};
  return task;
}

// Users may name directories of the cache on nodes, as with the Go operator; a cache is cleared by
// samples, so such a directory means all of them.
Result<std::vector<std::string>> cleared_paths(const api::SampleJob& job,
                                               const api::SampleSet& set) {
  if (!job.spec.clear) return std::vector<std::string>{};
  std::vector<std::string> roots;
  if (set.spec.cache) {
    for (const auto& level : set.spec.cache->levels) {
      std::istringstream paths(level.path);
      for (std::string each; std::getline(paths, each, ':');) roots.push_back(each);
    }
  }
  if (set.spec.csi && set.spec.csi->juicefs && set.spec.csi->juicefs->cache_dir) {
    std::istringstream paths(*set.spec.csi->juicefs->cache_dir);
    for (std::string each; std::getline(paths, each, ':');) roots.push_back(each);
  }
  std::vector<std::string> out;
  for (const std::string& path : job.spec.clear->paths) {
    const bool is_root = is_at_or_in(path, "/cache") || is_at_or_in(path, "/dev/shm") ||
                         std::ranges::any_of(roots, [&](const std::string& root) {
                           return beneath_root(path) == beneath_root(root);
                         });
    if (is_root) return std::vector<std::string>{};
    out.push_back(path);
  }
  return beneath_root(out);
}

// ---- requests ----

Result<JobRequest> sync_request(const api::SampleJob& job, const api::SampleSet& set,
                                int /*partition*/, int /*partitions*/) {
  JobRequest request{.kind = JobKind::kSync};
  TRY(request.sync, sync_task(job, set));
  return request;
}

Result<JobRequest> warmup_request(const api::SampleJob& job, const api::SampleSet& set,
                                  int partition, int partitions) {
  const api::WarmupOptions o = job.spec.warmup.value_or(api::WarmupOptions{});
  JobRequest request{.kind = JobKind::kWarmup};
  request.which = {.partition = partition, .partitions = partitions};
  request.which.paths = beneath_root(o.paths);
  request.which.file = beneath_root(o.file);
  request.which.strategy = runtime::strategy_of(o.strategy);
  request.which.threads = small(o.threads);
  request.which.lists_at = runtime::lists_address(set);
  return request;
}

Result<JobRequest> clear_request(const api::SampleJob& job, const api::SampleSet& set,
                                 int /*partition*/, int /*partitions*/) {
  JobRequest request{.kind = JobKind::kClear};
  TRY(request.which.paths, cleared_paths(job, set));
  return request;
}

// Each runtime expects to have the part that the set's own warm-up gives it.
Result<JobRequest> verification_request(const api::SampleJob& job, const api::SampleSet& set,
                                        int partition, int partitions) {
  const api::VerifyOptions o = job.spec.verify.value_or(api::VerifyOptions{});
  JobRequest request{.kind = JobKind::kVerify};
  request.which = {.partition = partition, .partitions = partitions};
  request.which.paths = beneath_root(o.paths);
  if (set.spec.warmup) request.which.strategy = runtime::strategy_of(set.spec.warmup->strategy);
  request.which.threads = small(o.threads);
  request.which.repair = o.repair;
  return request;
}

Result<JobRequest> removal_request(const api::SampleJob& job, const api::SampleSet& /*set*/,
                                   int /*partition*/, int /*partitions*/) {
  const api::RmrOptions o = job.spec.rmr.value_or(api::RmrOptions{});
  for (const auto& path : o.paths) {
    if (beneath_root(path).empty()) {
      return Error{
          Code::kInvalid,
          "rmrOptions.paths contains the root of the set; list paths beneath it, or delete "
          "the SampleSet"};
    }
  }
  if (o.paths.empty()) return Error{Code::kInvalid, "rmrOptions.paths is required"};
  JobRequest request{.kind = JobKind::kRemove};
  request.which.paths = beneath_root(o.paths);
  request.which.skip_trash = o.skip_trash;
  if (job.status.start_time) {
    request.which.accepted = std::chrono::duration_cast<std::chrono::milliseconds>(
                                 job.status.start_time->time_since_epoch())
                                 .count();
  }
  return request;
}

Result<JobRequest> unknown_request(const api::SampleJob& job, const api::SampleSet& /*set*/,
                                   int /*partition*/, int /*partitions*/) {
  auto kind = runtime::parse_job_kind(job.spec.type);
  if (!kind) return Error{Code::kInvalid, "spec.type is not " + kind.error().message};
  return JobRequest{.kind = *kind};
}

// ---- other properties ----

// Unless it only lists, or deletes from the source.
bool sync_is_divisible(const api::SampleJobSpec& spec) {
  return !(spec.sync && (spec.sync->dry || spec.sync->delete_src));
}

std::string sync_warning(const api::SampleJobSpec& spec) {
  if (!spec.sync) return "";
  if (spec.sync->http_port) return "syncOptions.http-port has no effect";
  if (!spec.sync->worker.empty()) {
    return "syncOptions.worker has no effect: the runtimes are the workers";
  }
  return "";
}

constexpr JobType kUnknown{.request = unknown_request};

const JobType& describe(JobKind kind) {
  static constexpr JobType kSync{.kind = JobKind::kSync,
                                 .request = sync_request,
                                 .is_divisible = sync_is_divisible,
                                 .warning = sync_warning,
                                 .exclusive = true,  // it may delete what another is to write
                                 .waits_for_first_sync = true,
                                 .needs_source_keys = true};
  static constexpr JobType kWarmup{.kind = JobKind::kWarmup, .request = warmup_request};
  static constexpr JobType kClear{
      .kind = JobKind::kClear, .request = clear_request, .each_does_all = true};
  static constexpr JobType kRemove{
      .kind = JobKind::kRemove, .request = removal_request, .each_does_all = true};
  static constexpr JobType kVerify{.kind = JobKind::kVerify, .request = verification_request};
  switch (kind) {
    case JobKind::kSync:
      return kSync;
    case JobKind::kWarmup:
      return kWarmup;
    case JobKind::kClear:
      return kClear;
    case JobKind::kRemove:
      return kRemove;
    case JobKind::kVerify:
      return kVerify;
  }
  return kUnknown;
}

}  // namespace

const JobType& job_type(const std::string& type) {
  const auto kind = runtime::parse_job_kind(type);
  return kind ? describe(*kind) : kUnknown;
}

}  // namespace paddle::controllers::sample_job
