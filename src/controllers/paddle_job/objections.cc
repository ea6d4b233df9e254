// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objections.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/elastic.h"
#include "controllers/paddle_job/parts.h"
#include "controllers/paddle_job/rendezvous.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers {
namespace {

constexpr size_t kMaxLabel = 63;  // of a DNS name: the host name of a pod

bool has_containers(const Part& part) {
  if (!part.pod_template) return false;
  const api::Json& containers = api::look(*part.pod_template, "/spec/containers");
  return containers.is_array() && !containers.empty();
}

std::string about_parts(const std::vector<Part>& parts) {
  int total = 0;
  for (const Part& part : parts) {
    const std::string name = is_task(part) ? "task " + part.name : part.name;
    if (part.replicas < 0) return name + " must not have negative replicas";
    if (part.replicas > 0 && !has_containers(part)) {
      return name + " needs a template with at least one container";
    }
    total += part.replicas;
  }
  if (parts.empty()) return "at least one of ps, worker and heter is needed";
  if (total == 0) return "at least one role needs replicas greater than 0";
  return {};
}

std::string about_name(const api::PaddleJob& job, const std::vector<Part>& parts) {
  const std::string& name = job.meta.key.name;
  for (const Part& part : parts) {
    const auto longest = pod_name(job, part, std::max(part.replicas - 1, 0));
    if (longest.size() > kMaxLabel) {
      return "the name of the job is too long: the pod " + longest + " would have " +
             std::to_string(longest.size()) + " characters, and 63 are allowed";
    }
  }
  if (name.find('.') != std::string::npos) {
    return "the name of the job has a dot, which the host name of a pod can not have";
  }
  if (by_service(job.spec) && !name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) {
    return "with intranet Service the name of the job has to begin with a letter";
  }
  return {};
}

// The API server says so itself, where it knows rules.
std::string about_tasks(const api::PaddleJobSpec& spec) {
  if (!api::is_choice(api::kModes, spec.mode)) {
    return "mode is " + spec.mode + "; it can be PS, Collective, Single or Custom";
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
    if (!names.insert(task.name).second) return "two tasks are called " + task.name;
  }
  return {};
}

std::string about_choices(const api::PaddleJobSpec& spec) {
  if (!api::is_choice(api::kIntranets, spec.intranet)) {
    return "intranet is " + spec.intranet + "; it can be PodIP, Service or Host";
  }
  if (!spec.sample_set) return {};
  if (spec.sample_set->name.empty()) return "sampleSetRef needs a name";
  const auto& path = spec.sample_set->mount_path;
  if (path.empty() || path[0] != '/' || path.find(':') != std::string::npos) {
    return "sampleSetRef.mountPath has to be an absolute path without a colon";
  }
  return {};
}

std::set<std::string> containers_of(const Part& part) {
  std::set<std::string> names;
  if (!part.pod_template) return names;
  for (const char* kind : {"/spec/containers", "/spec/initContainers"}) {
    const api::Json& list = api::look(*part.pod_template, kind);
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

// Those that sampleSetRef names and no worker has.
std::vector<std::string> strangers(const api::PaddleJobSpec& spec) {
  if (!spec.sample_set) return {};
  std::set<std::string> known;
  for (const Part& part : parts_of(spec)) {
    if (part.kind == RoleKind::kWorker) known.merge(containers_of(part));
  }
  auto names = spec.sample_set->containers;
  std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
  return names;
}

}  // namespace

std::optional<BlockReason> objection_to_mount(const api::PaddleJob& job) {
  if (!job.spec.sample_set || job.spec.sample_set->containers.empty()) return std::nullopt;
  const auto& wanted = job.spec.sample_set->containers;
  for (const Part& part : parts_of(job.spec)) {
    if (part.kind != RoleKind::kWorker || part.replicas <= 0) continue;
    const auto names = containers_of(part);
    if (std::ranges::any_of(wanted, [&](const auto& one) { return names.contains(one); })) continue;
    return BlockReason{"InvalidSpec", "sampleSetRef.containers is " + listed(wanted) + ", but " +
                                          part.name + " has no such container; it has " +
                                          listed(names)};
  }
  return std::nullopt;
}

std::optional<BlockReason> objection_to(const api::PaddleJob& job) {
  const auto parts = parts_of(job.spec);
  for (const std::string& text : {about_tasks(job.spec), about_parts(parts), about_name(job, parts),
                                  about_choices(job.spec)}) {
    if (!text.empty()) return BlockReason{"InvalidSpec", text};
  }
  if (job.spec.sample_set) return data_out_of_reach(job.meta.key, *job.spec.sample_set);
  return std::nullopt;
}

std::vector<std::string> doubts_about(const api::PaddleJob& job, const Setting& setting,
                                      bool not_elastic_yet) {
  auto said = api::warnings(job);
  if (const auto names = strangers(job.spec); !names.empty()) {
    said.push_back("sampleSetRef.containers names " + listed(names) + ", which no worker has");
  }
  if (not_elastic_yet) {
    said.emplace_back(
        "this run began without an etcd and goes on so; the job is elastic when it begins anew");
  } else if (auto text = why_not_elastic(job.spec, setting.etcd); !text.empty()) {
    said.push_back(std::move(text));
  }
  return said;
}

}  // namespace paddle::controllers
