// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/failure_rules.h"

#include <algorithm>

#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr const char* kDisruptionTarget = "DisruptionTarget";

std::optional<FailureAction> action_of(const api::FailureRule& rule) {
  if (rule.action == "Fail") return FailureAction::kFail;
  if (rule.action == "Restart") return FailureAction::kRestart;
  if (rule.action == "Ignore") return FailureAction::kIgnore;
  return std::nullopt;
}

struct Exit {
  const std::string& container;
  int code = 0;
  const std::string& reason;
};

// The failed exits of the pod's containers.
template <typename Test>
bool any_exit(const api::Pod& pod, Test test) {
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) {
      if (c.name == kCoordinator) continue;
      const bool over = c.state == api::ContainerStatus::State::kTerminated;
      if (over && c.exit_code != 0 && test(Exit{c.name, c.exit_code, c.reason})) return true;
      if (c.last_exit_code == 0 || ended(pod)) continue;
      if (test(Exit{c.name, c.last_exit_code, c.last_reason})) return true;
    }
  }
  return false;
}

bool matches_code(const api::ExitCodes& codes, const Exit& exit) {
  if (!codes.container_name.empty() && codes.container_name != exit.container) return false;
  const bool listed = std::ranges::find(codes.values, exit.code) != codes.values.end();
  return codes.op == "In" ? listed : codes.op == "NotIn" && !listed;
}

bool matches(const api::FailureRule& rule, const api::Pod& pod) {
  if (rule.on_exit_codes) {
    return any_exit(pod, [&](const Exit& exit) { return matches_code(*rule.on_exit_codes, exit); });
  }
  const auto listed = [&](const std::string& reason) {
    return !reason.empty() && std::ranges::find(rule.on_reasons, reason) != rule.on_reasons.end();
  };
  return listed(pod.reason) || (pod.disrupted && listed(kDisruptionTarget)) ||
         any_exit(pod, [&](const Exit& exit) { return listed(exit.reason); });
}

}  // namespace

std::optional<MatchedRule> match_rules(const api::PaddleJobSpec& spec,
                                       const std::vector<const api::Pod*>& pods) {
  if (!spec.failure_policy) return std::nullopt;
  const auto& rules = spec.failure_policy->rules;
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto action = action_of(rules[i]);
    if (!action) continue;
    for (const api::Pod* pod : pods) {
      if (matches(rules[i], *pod)) return MatchedRule{*action, i + 1, pod};
    }
  }
  return std::nullopt;
}

}  // namespace paddle::controllers::paddle_job
