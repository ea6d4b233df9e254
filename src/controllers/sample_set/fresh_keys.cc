// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/fresh_keys.h"

#include <algorithm>
#include <string>
#include <vector>

#include "controllers/sample_set/runtimes.h"

namespace paddle::controllers::sample_sets {
namespace {

constexpr std::chrono::seconds kKubelet{3};  // looks at its pods once a second, then at files

struct Told {
  std::string version{};
  std::optional<WallTime> at{};
};

Told told(const api::Pod& pod) {
  const auto found = pod.meta.annotations.find(kSourceKeys);
  if (found == pod.meta.annotations.end()) return {};
  const auto blank = found->second.find(' ');
  if (blank == std::string::npos) return {};
  const auto at = parse_rfc3339(found->second.substr(blank + 1));
  return {found->second.substr(0, blank), at ? std::optional(*at) : std::nullopt};
}

std::vector<const api::Pod*> running_pods(const api::SampleSet& set, const World& world) {
  std::vector<const api::Pod*> found;
  for (const RuntimePod& each : running(set, world.pods)) {
    found.push_back(&*std::ranges::find_if(
        world.pods, [&](const api::Pod& pod) { return pod.meta.uid == each.uid; }));
  }
  return found;
}

}  // namespace

void tell_of_keys(const api::SampleSet& set, const World& world, WallTime now, Plan& plan) {
  if (world.keys.empty()) return;
  for (const api::Pod* pod : running_pods(set, world)) {
    if (told(*pod).version == world.keys) continue;
    plan.actions.emplace_back(
        TellOfKeys{pod->meta.key, pod->meta.uid, world.keys + " " + rfc3339(now)});
  }
}

bool has_other_keys(const api::SampleSet& set, const World& world, WallTime since, WallTime now) {
  const auto pods = running_pods(set, world);
  if (world.keys.empty() || pods.empty()) return false;
  for (const api::Pod* pod : pods) {
    const Told seen = told(*pod);
    if (seen.version != world.keys || !seen.at) return false;
    if (*seen.at < since || now < *seen.at + kKubelet) return false;
  }
  return true;
}

}  // namespace paddle::controllers::sample_sets
