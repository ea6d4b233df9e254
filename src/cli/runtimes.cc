// SPDX-License-Identifier: Apache-2.0
#include "cli/runtimes.h"

#include <nlohmann/json.hpp>

#include "cli/fields.h"
#include "cli/pods.h"
#include "runtime/client.h"
#include "runtime/runtime_secret.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr std::chrono::seconds kPatience{5};

// Its token is empty when there is none (yet).
Result<runtime::RuntimeCredentials> access_to(Session& session, const Json& set) {
  const std::string ns = text_at(set, {"metadata", "namespace"});
  const std::string name = text_at(set, {"metadata", "name"});
  auto secret =
      session.client().get(kube::resources::kSecrets, {ns, name + "-runtime"}, session.call());
  if (secret.is(Code::kNotFound)) return runtime::RuntimeCredentials{};
  if (!secret) return session.explained(std::move(secret).error());
  // Runtimes of samplefs answer in the clear.
  const bool tls = text_at(set, {"status", "engine"}) == "juicefs";
  return runtime::credentials_from(runtime::secret_values(*secret), ns, name, tls);
}

RuntimeFigures ask(const OwnedPod& pod, const runtime::RuntimeCredentials& access,
                   const std::stop_token& stop) {
  RuntimeFigures made{.pod = pod.key.name};
  if (pod.ip.empty() || access.token.empty()) {
    made.error = "it has not started yet";
    return made;
  }
  runtime::Client client(runtime::address_of(pod.ip), access, kPatience);
  auto report = client.status(stop);
  if (report) {
    made.report = *std::move(report);
  } else {
    made.error = report.error().message;
  }
  return made;
}

}  // namespace

Result<std::vector<RuntimeFigures>> runtimes_of(Session& session, const Json& set) {
  TRY(const auto pods, pods_of(session, set));
  TRY(const auto access, access_to(session, set));
  std::vector<RuntimeFigures> found;
  for (const OwnedPod& pod : pods) {
    found.push_back(ask(pod, access, session.terminal().stop()));
  }
  return found;
}

}  // namespace paddle::cli
