// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/elastic.h"

#include <algorithm>

#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr int kNoLimit = 10'000;  // more replicas than a role may have

// For Paddle's launcher every change of the number of workers is a restart, and it allows three by
// default.
constexpr const char* kManyRestarts = "1000000";

// The launcher assigns the ranks: with those of PADDLE_TRAINER_ID a lost worker would leave a gap,
// which the launcher cannot handle.
constexpr const char* kAnyRank = "-1";

// "http://e:2379" -> "e:2379".
std::string host_and_port(const std::string& endpoint) {
  const auto scheme = endpoint.find("://");
  return scheme == std::string::npos ? endpoint : endpoint.substr(scheme + 3);
}

// The group whose size may change; unset: there are no trainers, or they are in several tasks.
std::optional<ReplicaGroup> trainers(const api::PaddleJobSpec& spec) {
  std::optional<ReplicaGroup> found;
  for (ReplicaGroup& group : replica_groups(spec)) {
    if (group.kind != RoleKind::kWorker) continue;
    if (found) return std::nullopt;
    found = std::move(group);
  }
  return found;
}

int replicas(const api::PaddleJobSpec& spec) { return replicas_of(spec, RoleKind::kWorker); }

std::string to_text(const ReplicaRange& range) {
  return std::to_string(range.min) + ":" + std::to_string(range.max);
}

}  // namespace

std::string etcd_server_of(const std::string& flag, const char* service_host,
                           const char* service_port) {
  if (!flag.empty()) return flag;
  const std::string host = service_host ? service_host : "";
  const std::string port = service_port ? service_port : "";
  if (host.empty() || port.empty()) return {};
  return (host.find(':') != std::string::npos ? "[" + host + "]" : host) + ":" + port;
}

bool is_elastic(const api::PaddleJobSpec& spec, const EtcdEndpoints& etcd) {
  return spec.elastic && !etcd.empty() && trainers(spec) && !has_servers(spec);
}

std::string why_not_elastic(const api::PaddleJobSpec& spec, const EtcdEndpoints& etcd) {
  if (!spec.elastic || is_elastic(spec, etcd)) return {};
  if (!trainers(spec)) return "elastic needs a worker role, or one task that trains";
  if (has_servers(spec))
    return "a job with parameter servers cannot change its size while it trains; "
           "elastic is ignored";
  return "elastic needs an etcd: start the operator with --etcd-server=HOST:PORT; until then a "
         "change of replicas restarts the job";
}

ReplicaRange elastic_range(const api::PaddleJobSpec& spec) {
  const int now = std::max(replicas(spec), 1);
  ReplicaRange range{.min = 1, .max = kNoLimit};
  const auto group = trainers(spec);
  if (!group) return range;
  if (const int min = group->min_replicas.value_or(0); min > 0) range.min = min;
  if (const int max = group->max_replicas.value_or(0); max > 0) range.max = max;
  range.min = std::min(range.min, now);
  range.max = std::max({range.max, now, range.min});
  return range;
}

std::string elastic_np(const api::PaddleJobSpec& spec) {
  const auto group = trainers(spec);
  const bool ranged =
      group && (group->min_replicas.value_or(0) > 0 || group->max_replicas.value_or(0) > 0);
  return ranged ? to_text(elastic_range(spec)) : std::to_string(replicas(spec));
}

std::string elastic_job_id(const api::ObjectKey& job) { return job.ns + "-" + job.name; }

std::string id_owner(const api::PaddleJob& job,
                     const std::vector<std::shared_ptr<const api::PaddleJob>>& with_same_id) {
  const auto age = [](const api::PaddleJob& one) {
    return std::pair(one.meta.created.value_or(WallTime::max()), one.meta.key);
  };
  const api::PaddleJob* first = &job;
  for (const auto& other : with_same_id) {
    if (other->meta.key != job.meta.key && age(*other) < age(*first)) first = other.get();
  }
  return first == &job ? std::string() : to_string(first->meta.key);
}

Env elastic_env(const api::PaddleJob& job, const EtcdEndpoints& etcd) {
  const std::string id = elastic_job_id(job.meta.key);
  Env env{{"PADDLE_ELASTIC_JOB_ID", id},
          {"PADDLE_ELASTIC_NP", elastic_np(job.spec)},
          {"PADDLE_ELASTIC_TIMEOUT", "60"}};
  if (etcd.empty()) return env;
  const std::string server = host_and_port(etcd.front());
  env.insert(env.end(), {{"PADDLE_ELASTIC_SERVER", server},
                         {"PADDLE_MASTER", "etcd://" + server},
                         {"PADDLE_NNODES", to_text({1, elastic_range(job.spec).max})},
                         {"PADDLE_JOB_ID", id},
                         {"PADDLE_RANK", kAnyRank},
                         {"PADDLE_ELASTIC_LEVEL", "1"},
                         {"PADDLE_MAX_RESTART", kManyRestarts}});
  return env;
}

std::string np_key(const api::ObjectKey& job) { return state_prefix(job) + "np"; }
std::string state_key(const api::ObjectKey& job) { return "/paddle/" + elastic_job_id(job); }
std::string state_prefix(const api::ObjectKey& job) { return state_key(job) + "/"; }
std::string round_prefix(const api::ObjectKey& job) { return "/" + elastic_job_id(job) + "/info/"; }

std::optional<std::string> np_to_write(const api::PaddleJobSpec& spec,
                                       const std::optional<std::string>& stored) {
  const std::string wanted = std::to_string(replicas(spec));
  if (stored == wanted) return std::nullopt;
  return wanted;
}

}  // namespace paddle::controllers::paddle_job
