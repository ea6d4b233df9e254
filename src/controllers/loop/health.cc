// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/health.h"

namespace paddle::controllers {
namespace {

net::ServerReply answer(const std::string& endpoint, const std::string& check, bool passed,
                        bool verbose) {
  const std::string line =
      passed ? "[+]" + check + " ok\n" : "[-]" + check + " failed: reason withheld\n";
  const std::string verdict = endpoint + " check " + (passed ? "passed" : "failed") + "\n";
  if (!passed) return {.status = 500, .body = line + verdict};
  return {.body = verbose ? line + verdict : "ok"};
}

}  // namespace

bool is_alive(std::chrono::nanoseconds longest_pass) { return longest_pass < kStuckAfter; }

net::ServerReply health_reply(const net::ServerRequest& ask, const HealthState& state) {
  const bool verbose =
      ask.query.rfind("verbose", 0) == 0 || ask.query.find("&verbose") != ask.query.npos;
  if (ask.path == "/healthz" || ask.path == "/healthz/" || ask.path == "/healthz/health") {
    return answer("healthz", "health", state.alive, verbose);
  }
  if (ask.path == "/readyz" || ask.path == "/readyz/" || ask.path == "/readyz/check") {
    return answer("readyz", "check", state.ready, verbose);
  }
  return {.status = 404, .body = "404 page not found\n"};
}

}  // namespace paddle::controllers
