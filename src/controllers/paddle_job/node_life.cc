// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/node_life.h"

#include "controllers/paddle_job/pod_facts.h"

namespace paddle::controllers {
namespace {

constexpr std::chrono::seconds kOverdue{10};
constexpr std::chrono::seconds kLeaseLasts{40};
// Twice the time between two renewals: a node that is heard of later may have been away.
constexpr std::chrono::seconds kInTime{20};
// By then the pods of a node that was away for less than kSilence have been reported again.
constexpr std::chrono::seconds kBackAgain = kSilence + std::chrono::seconds{30};

// A kubelet that has just started says so before it says what became of its pods.
constexpr std::chrono::seconds kTells{4};

}  // namespace

NodesVerdict judge_nodes(const Roster& roster, const api::Pod& failed,
                         const std::map<std::string, NodeLife>& known, WallTime now) {
  NodesVerdict verdict;
  const auto since = end_of(failed);
  if (!since) return verdict;
  for (const Bench& bench : roster.benches) {
    for (const api::Pod* pod : bench.seats) {
      if (!pod || ended(*pod) || pod->node.empty() || pod->node == failed.node) continue;
      const auto answer = known.find(pod->node);
      if (answer == known.end()) {
        verdict.ask_about.insert(pod->node);
        continue;
      }
      const auto& renewed = answer->second.renewed;
      if (!renewed) continue;
      if (*renewed > *since) {
        const bool just_now = *renewed > *since + kInTime || now < *renewed + kTells;
        const bool may_have_been_away = just_now && now < *since + kBackAgain;
        if (may_have_been_away) verdict.ask_about.insert(pod->node);
      } else if (now >= *since + kSilence) {
        verdict.silent = pod->node;
      } else {
        verdict.ask_about.insert(pod->node);
      }
    }
  }
  if (!verdict.ask_about.empty()) verdict.again_at = now + kAskAgain;
  return verdict;
}

bool overdue(const api::Pod& pod, WallTime now) {
  return pod.meta.deleted && !pod.node.empty() && now >= *pod.meta.deleted + kOverdue;
}

bool is_silent(const NodeLife& life, WallTime now) {
  return life.renewed && now >= *life.renewed + kLeaseLasts;
}

}  // namespace paddle::controllers
