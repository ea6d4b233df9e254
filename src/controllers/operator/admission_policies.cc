// SPDX-License-Identifier: Apache-2.0
#include "controllers/operator/admission_policies.h"

#include <array>

#include "base/log.h"
#include "kube/events/recorder.h"

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;
namespace kinds = kube::resources;

constexpr auto kRetry = 10s;
constexpr auto kFlushLimit = 5s;
constexpr const char* kComponent = "paddle-operator";
constexpr const char* kReason = "PoliciesMissing";
constexpr const char* kAdvice =
    "kubectl apply -f deploy/v1/policies.yaml (Kubernetes 1.30 or later)";

struct AdmissionPolicy {
  const char* name;
  const char* without_it;
};

constexpr std::array<AdmissionPolicy, 9> kPolicies{{
    {"manager-accounts.paddlepaddle.org",
     "pods beside the operator can run with the service account of a manager"},
    {"sampleset-claims.paddlepaddle.org",
     "annotations 'juicefs*' of a set's claim can control JuiceFS's privileged driver"},
    {"sampleset-objects.paddlepaddle.org",
     "users of a namespace can change the Secrets, claims and runtimes of its sets"},
    {"sampleset-volumes.paddlepaddle.org", "the operator may write any PersistentVolume"},
    {"sampleset-deletions.paddlepaddle.org",
     "the operator may delete Secrets, StatefulSets and NetworkPolicies of others"},
    {"samplejob-requesters.paddlepaddle.org",
     "a SampleJob that deletes samples may name another user than its own"},
    {"node-labels.paddlepaddle.org", "the operator may change every label and taint of nodes"},
    {"system-namespaces.paddlepaddle.org",
     "managers of all namespaces may make pods in kube-system"},
    {"juicefs-driver.paddlepaddle.org", "JuiceFS's driver may change every pod of the cluster"},
}};

Result<bool> exists(kube::Cluster& cluster, const kube::Resource& resource, const char* name,
                    const kube::Call& call) {
  auto found = cluster.get(resource, {"", name}, call);
  if (found) return true;
  if (found.is(Code::kNotFound)) return false;
  return std::move(found).error().in("look for the admission policies");
}

void report(const std::vector<std::string>& missing, kube::Cluster& cluster, const OperatorPod& pod,
            Metrics& metrics, const Clock& clock) {
  for (const std::string& text : missing) {
    log::warn("not protected", {{"policy", text}, {"advice", kAdvice}});
  }
  if (missing.empty() || pod.key.name.empty()) return;
  std::string message = std::string(kAdvice) + " protects; now ";  // first: a long text is cut
  for (const std::string& text : missing) message += (text == missing.front() ? "" : "; ") + text;
  kube::EventRecorder events(cluster, kComponent, clock, metrics);
  events.event({.api_version = "v1", .kind = "Pod", .key = pod.key, .uid = pod.uid},
               kube::EventKind::kWarning, kReason, message);
  (void)events.flush(kFlushLimit);
}

}  // namespace

Result<std::vector<std::string>> missing_policies(kube::Cluster& cluster, const kube::Call& call) {
  std::vector<std::string> missing;
  for (const AdmissionPolicy& policy : kPolicies) {
    TRY(const bool defined, exists(cluster, kinds::kAdmissionPolicies, policy.name, call));
    TRY(const bool bound, exists(cluster, kinds::kAdmissionPolicyBindings, policy.name, call));
    if (defined && bound) continue;
    missing.push_back(std::string(policy.name) + (defined ? " has no binding: " : " is missing: ") +
                      policy.without_it);
  }
  return missing;
}

void report_missing_policies(kube::Cluster& cluster, const OperatorPod& pod, Metrics& metrics,
                             const Clock& clock, std::stop_token stop) {
  do {
    const auto missing = missing_policies(cluster, {.stop = stop});
    if (missing) return report(*missing, cluster, pod, metrics, clock);
    if (missing.is(Code::kForbidden)) {
      log::warn("cannot see whether the admission policies are in force",
                {{"error", missing.error().message}});
      return;
    }
  } while (clock.sleep(kRetry, stop));
}

}  // namespace paddle::controllers
