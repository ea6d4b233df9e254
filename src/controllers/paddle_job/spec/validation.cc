// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/validation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr size_t kMaxLabel = 63;  // of a DNS name: the host name of a pod
// Of Linux (MAX_ARG_STRLEN), for one variable of a program's environment, its name included.
constexpr size_t kMaxVariable = 128UL * 1024;
constexpr size_t kVariableName = 64;  // more than PADDLE_HETER_TRAINER_IP_PORT_LIST= has
constexpr size_t kPortAndComma = 7;
constexpr size_t kIpv4 = 15;
constexpr size_t kIpv6 = 41;  // with its brackets

bool has_containers(const ReplicaGroup& group) {
  if (!group.pod_template) return false;
  const api::Json& containers = api::look(*group.pod_template, "/spec/containers");
  return containers.is_array() && !containers.empty();
}

std::string group_error(const std::vector<ReplicaGroup>& groups) {
  int total = 0;
  for (const ReplicaGroup& group : groups) {
    const std::string name = is_task(group) ? "task " + group.name : group.name;
    if (group.replicas < 0) return name + " must not have negative replicas";
    if (group.replicas > 0 && !has_containers(group)) {
      return name + " needs a template with at least one container";
    }
    total += group.replicas;
  }
  if (groups.empty()) return "at least one of ps, worker and heter is required";
  if (total == 0) return "at least one role needs replicas greater than 0";
  return {};
}

std::string name_error(const api::PaddleJob& job, const std::vector<ReplicaGroup>& groups) {
  const std::string& name = job.meta.key.name;
  for (const ReplicaGroup& group : groups) {
    const auto longest = pod_name(job, group, std::max(group.replicas - 1, 0));
    if (longest.size() > kMaxLabel) {
      return "the name of the job is too long: the pod " + longest + " would have " +
             std::to_string(longest.size()) + " characters, and 63 are allowed";
    }
  }
  if (name.find('.') != std::string::npos) {
    return "the name of the job has a dot, which the host name of a pod cannot have";
  }
  if (uses_services(job.spec) && !name.empty() &&
      std::isdigit(static_cast<unsigned char>(name[0]))) {
    return "with intranet Service the name of the job must begin with a letter";
  }
  return {};
}

// API servers that know CEL rules reject this already.
std::string task_error(const api::PaddleJobSpec& spec) {
  if (!api::is_choice(api::kModes, spec.mode)) {
    return "mode is " + spec.mode + "; it must be PS, Collective, Single or Custom";
  }
  if (spec.tasks.empty()) return {};
  if (spec.ps || spec.worker || spec.heter) {
    return "tasks go alone: write either tasks, or ps, worker and heter";
  }
  std::set<std::string> names;
  for (const api::Task& task : spec.tasks) {
    const bool plain = std::ranges::all_of(task.name, [](char c) {
      return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
    if (!plain || api::task_type(task.name).empty()) {
      return "a task needs a name of lower-case letters, digits and dashes";
    }
    if (!names.insert(task.name).second) return "two tasks are named " + task.name;
  }
  return {};
}

std::string failure_rule_error(const api::PaddleJobSpec& spec) {
  if (!spec.failure_policy) return {};
  for (const api::FailureRule& rule : spec.failure_policy->rules) {
    if (!api::is_choice(api::kFailureActions, rule.action)) {
      return "a rule of failurePolicy has the action " + rule.action +
             "; it must be Fail, Restart or Ignore";
    }
    if (rule.on_exit_codes.has_value() != rule.on_reasons.empty()) {
      return "a rule of failurePolicy needs either onExitCodes or onReasons";
    }
    if (rule.on_exit_codes && !api::is_choice(api::kExitCodeOperators, rule.on_exit_codes->op)) {
      return "onExitCodes of failurePolicy needs the operator In or NotIn";
    }
  }
  return {};
}

std::string choice_error(const api::PaddleJobSpec& spec) {
  if (!api::is_choice(api::kIntranets, spec.intranet)) {
    return "intranet is " + spec.intranet + "; it must be PodIP, Service or Host";
  }
  if (!api::is_choice(api::kSuccessPolicies, spec.success_policy)) {
    return "successPolicy is " + spec.success_policy + "; it must be All, Chief or Any";
  }
  if (auto error = failure_rule_error(spec); !error.empty()) return error;
  if (!spec.sample_set) return {};
  if (spec.sample_set->name.empty()) return "sampleSetRef needs a name";
  const auto& path = spec.sample_set->mount_path;
  if (path.empty() || path[0] != '/' || path.find(':') != std::string::npos) {
    return "sampleSetRef.mountPath must be an absolute path without a colon";
  }
  return {};
}

// Also in config/policies/manager_accounts.yaml, which holds for every pod.
constexpr std::array kManagerAccounts{"paddle-manager-sa", "paddle-sampleset-sa",
                                      "paddle-samplejob-sa"};

std::string account_error(const api::PaddleJob& job, const std::vector<ReplicaGroup>& groups,
                          const Config& config) {
  if (config.operator_namespace.empty() || job.meta.key.ns != config.operator_namespace) return {};
  for (const ReplicaGroup& group : groups) {
    if (!group.pod_template) continue;
    for (const char* field : {"/spec/serviceAccountName", "/spec/serviceAccount"}) {
      const std::string account = api::look_text(*group.pod_template, field);
      if (std::ranges::find(kManagerAccounts, account) == kManagerAccounts.end()) continue;
      return group.name + " names the service account " + account +
             ", which is the operator's own; name another one";
    }
  }
  return {};
}

std::set<std::string> containers_of(const ReplicaGroup& group) {
  std::set<std::string> names;
  if (!group.pod_template) return names;
  for (const char* kind : {"/spec/containers", "/spec/initContainers"}) {
    const api::Json& list = api::look(*group.pod_template, kind);
    if (!list.is_array()) continue;
    for (const api::Json& one : list) names.insert(api::look_text(one, "name"));
  }
  return names;
}

std::string listed(const auto& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Containers that sampleSetRef names and no worker has.
std::vector<std::string> unknown_containers(const api::PaddleJobSpec& spec) {
  if (!spec.sample_set) return {};
  std::set<std::string> known;
  for (const ReplicaGroup& group : replica_groups(spec)) {
    if (group.kind == RoleKind::kWorker) known.merge(containers_of(group));
  }
  auto names = spec.sample_set->containers;
  std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
  return names;
}

}  // namespace

std::optional<BlockReason> mount_error(const api::PaddleJob& job) {
  if (!job.spec.sample_set || job.spec.sample_set->containers.empty()) return std::nullopt;
  const auto& wanted = job.spec.sample_set->containers;
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    if (group.kind != RoleKind::kWorker || group.replicas <= 0) continue;
    const auto names = containers_of(group);
    if (std::ranges::any_of(wanted, [&](const auto& one) { return names.contains(one); })) continue;
    return BlockReason{reasons::kInvalidSpec,
                       "sampleSetRef.containers is " + listed(wanted) + ", but " + group.name +
                           " has no such container; it has " + listed(names)};
  }
  return std::nullopt;
}

std::optional<BlockReason> peer_list_error(const api::PaddleJob& job, const Config& config) {
  const auto pods = static_cast<size_t>(total_replicas(job.spec));
  if (is_elastic(job.spec, config.etcd)) return std::nullopt;  // Paddle finds its peers in etcd
  if (pods * (kMaxLabel + kPortAndComma) + kVariableName <= kMaxVariable) return std::nullopt;
  std::map<RoleKind, size_t> bytes;
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    size_t host = config.ipv6 ? kIpv6 : kIpv4;
    if (uses_services(job.spec)) host = pod_name(job, group, group.replicas - 1).size();
    bytes[group.kind] += static_cast<size_t>(group.replicas) * (host + kPortAndComma);
  }
  for (const auto& [kind, size] : bytes) {
    if (size + kVariableName <= kMaxVariable) continue;
    return BlockReason{reasons::kInvalidSpec,
                       "the list of the addresses of all pods of the role " + to_string(kind) +
                           " would have " + std::to_string(size) + " bytes, and Linux allows " +
                           std::to_string(kMaxVariable) +
                           " for an environment variable; use fewer replicas" +
                           (uses_services(job.spec) ? ", a shorter name of the job, or intranet "
                                                      "PodIP"
                                                    : "")};
  }
  return std::nullopt;
}

std::optional<BlockReason> spec_error(const api::PaddleJob& job, const Config& config) {
  const auto groups = replica_groups(job.spec);
  for (const std::string& text :
       {task_error(job.spec), group_error(groups), name_error(job, groups), choice_error(job.spec),
        account_error(job, groups, config)}) {
    if (!text.empty()) return BlockReason{reasons::kInvalidSpec, text};
  }
  if (job.spec.sample_set)
    return placement::data_namespace_error(job.meta.key, *job.spec.sample_set);
  return std::nullopt;
}

std::vector<std::string> spec_warnings(const api::PaddleJob& job, const Config& config,
                                       bool began_without_etcd) {
  auto warnings = api::warnings(job);
  if (const auto names = unknown_containers(job.spec); !names.empty()) {
    warnings.push_back("sampleSetRef.containers names " + listed(names) + ", which no worker has");
  }
  if (began_without_etcd) {
    warnings.emplace_back(
        "this run was started without an etcd; the job becomes elastic when it restarts");
  } else if (auto text = why_not_elastic(job.spec, config.etcd); !text.empty()) {
    warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace paddle::controllers::paddle_job
