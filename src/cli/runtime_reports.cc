// SPDX-License-Identifier: Apache-2.0
#include "cli/runtime_reports.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "cli/pods.h"
#include "runtime/client.h"
#include "runtime/runtime_secret.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr std::chrono::seconds kCallTimeout{5};

// The token is empty when the Secret does not exist (yet).
Result<runtime::RuntimeCredentials> credentials_for(Session& session, const Json& set) {
  const std::string ns = api::look_text(set, "/metadata/namespace");
  const std::string name = api::look_text(set, "/metadata/name");
  auto secret =
      session.client().get(kube::resources::kSecrets, {ns, name + "-runtime"}, session.call());
  if (secret.is(Code::kNotFound)) return runtime::RuntimeCredentials{};
  if (!secret) return session.explained(std::move(secret).error());
  // Runtimes of samplefs on one machine do not use TLS.
  const bool tls = api::look_text(set, "/status/engine") == "juicefs";
  return runtime::credentials_from(runtime::secret_values(*secret), ns, name, tls);
}

RuntimeReport fetch_report(const OwnedPod& pod, const runtime::RuntimeCredentials& credentials,
                           const std::stop_token& stop) {
  RuntimeReport made{.pod = pod.key.name};
  if (pod.ip.empty() || credentials.token.empty()) {
    made.error = "the runtime has not started yet";
    return made;
  }
  runtime::Client client(runtime::address_of(pod.ip), credentials, kCallTimeout);
  auto report = client.status(stop);
  if (report) {
    made.report = *std::move(report);
  } else {
    made.error = report.error().message;
  }
  return made;
}

}  // namespace

Result<std::vector<RuntimeReport>> fetch_runtime_reports(Session& session, const Json& set) {
  TRY(const auto pods, pods_of(session, set));
  TRY(const auto credentials, credentials_for(session, set));
  std::vector<RuntimeReport> found;
  for (const OwnedPod& pod : pods) {
    found.push_back(fetch_report(pod, credentials, session.terminal().stop()));
  }
  return found;
}

}  // namespace paddle::cli
