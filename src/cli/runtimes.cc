// SPDX-License-Identifier: Apache-2.0
#include "cli/runtimes.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "cli/fields.h"
#include "cli/pods.h"
#include "runtime/client.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr std::chrono::seconds kPatience{5};

// Empty when there is none (yet).
Result<std::string> token_of(Session& session, const std::string& ns, const std::string& set) {
  auto secret =
      session.client().get(kube::resources::kSecrets, {ns, set + "-runtime"}, session.call());
  if (secret.is(Code::kNotFound)) return std::string{};
  if (!secret) return session.explained(std::move(secret).error());
  const auto token = base64_decode(text_at(*secret, {"data", "token"}));
  return token ? *token : std::string{};
}

RuntimeFigures ask(const OwnedPod& pod, const std::string& token, const std::stop_token& stop) {
  RuntimeFigures made{.pod = pod.key.name};
  if (pod.ip.empty() || token.empty()) {
    made.error = "it has not started yet";
    return made;
  }
  const bool six = pod.ip.find(':') != std::string::npos;
  runtime::Client client((six ? "[" + pod.ip + "]" : pod.ip) + ":" + std::to_string(runtime::kPort),
                         token, kPatience);
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
  TRY(const std::string token, token_of(session, text_at(set, {"metadata", "namespace"}),
                                        text_at(set, {"metadata", "name"})));
  std::vector<RuntimeFigures> found;
  for (const OwnedPod& pod : pods) {
    found.push_back(ask(pod, token, session.terminal().stop()));
  }
  return found;
}

}  // namespace paddle::cli
