// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/credential_rollout.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "controllers/sample_set/config.h"
#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {
namespace {

struct AnnotatedVersions {
  std::string versions{};
  std::optional<WallTime> at{};
};

AnnotatedVersions annotated_versions(const api::Pod& pod) {
  const auto found = pod.meta.annotations.find(kSecretVersions);
  if (found == pod.meta.annotations.end()) return {};
  const auto blank = found->second.find(' ');
  if (blank == std::string::npos) return {};
  const auto at = parse_rfc3339(found->second.substr(blank + 1));
  return {found->second.substr(0, blank), at ? std::optional(*at) : std::nullopt};
}

std::vector<const api::Pod*> running_pods(const api::SampleSet& set, const World& world) {
  std::vector<const api::Pod*> found;
  for (const RunningRuntime& runtime : running_runtimes(set, world)) {
    found.push_back(&*std::ranges::find_if(
        world.pods, [&](const api::Pod& pod) { return pod.meta.uid == runtime.uid; }));
  }
  return found;
}

}  // namespace

void annotate_secret_versions(const api::SampleSet& set, const World& world, WallTime now,
                              Plan& plan) {
  if (world.secret_versions.empty()) return;
  for (const api::Pod* pod : running_pods(set, world)) {
    if (annotated_versions(*pod).versions == world.secret_versions) continue;
    plan.add(AnnotatePodSecrets{pod->meta.key, pod->meta.uid,
                                world.secret_versions + " " + rfc3339(now)});
  }
}

bool have_newer_secrets(const api::SampleSet& set, const World& world, WallTime since,
                        WallTime now) {
  const auto pods = running_pods(set, world);
  if (world.secret_versions.empty() || pods.empty()) return false;
  for (const api::Pod* pod : pods) {
    const AnnotatedVersions annotated = annotated_versions(*pod);
    if (annotated.versions != world.secret_versions || !annotated.at) return false;
    if (*annotated.at < since || now < *annotated.at + kSecretMountDelay) return false;
  }
  return true;
}

}  // namespace paddle::controllers::sample_set
