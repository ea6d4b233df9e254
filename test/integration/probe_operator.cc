// SPDX-License-Identifier: Apache-2.0
// A small operator for tests: a Manager with one controller that writes continuously while it
// leads. Its passes are long and ignore the stop token, as those of a careless reconciler may: only
// the fence prevents a late write.
//
//   probe_operator kubeconfig=PATH name=a lease_ms=3000 renew_ms=2000 retry_ms=300 margin_ms=500
//
// It updates ConfigMaps default/target-0 and target-1, each write with the resourceVersion it has
// read. Its requests have the user agent "probe-<name>", so that the server's audit log shows the
// writer.

#include <cstdlib>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "controllers/loop/manager.h"
#include "controllers/loop/signals.h"
#include "kube/client/client.h"
#include "kube/client/load_config.h"

namespace paddle {
namespace {

using controllers::ReconcileResult;
using kube::Json;
using kube::resources::kConfigMaps;
using std::chrono::milliseconds;

constexpr int kWritesInAPass = 20;

controllers::Reconcile writer(const controllers::ControllerContext& around,
                              const std::string& name) {
  for (int i = 0; i < 2; ++i) around.queue.add({"default", "target-" + std::to_string(i)});
  return [&cluster = around.cluster, name](const api::ObjectKey& key,
                                           std::stop_token stop) -> Result<ReconcileResult> {
    TRY(Json map, cluster.get(kConfigMaps, key, {.timeout = milliseconds{5000}, .stop = stop}));
    for (int write = 0; write < kWritesInAPass; ++write) {
      Json& count = map["data"][name];
      const int before = count.is_string() ? std::atoi(count.get<std::string>().c_str()) : 0;
      count = std::to_string(before + 1);
      TRY(map, cluster.update(kConfigMaps, map, {}, {.timeout = milliseconds{5000}}));
      system_clock().sleep(milliseconds{5}, {});
    }
    return ReconcileResult{milliseconds{1}};
  };
}

int run(std::map<std::string, std::string> args) {
  controllers::Signals signals;
  const std::string name = args["name"];
  const auto time = [&](const char* key) { return milliseconds{std::atoi(args[key].c_str())}; };
  auto config = kube::load_config({.path = args["kubeconfig"]}, {});
  if (!config) {
    std::cerr << config.error().message << "\n";
    return 2;
  }
  Metrics metrics;
  kube::Client client(*std::move(config), {.user_agent = "probe-" + name, .metrics = &metrics});
  auto manager = controllers::Manager::make(
      client,
      {.metrics_address = "0",
       .health_address = "127.0.0.1:0",
       .leader_elect = true,
       .lease_namespace = "default",
       .lease = {time("lease_ms"), time("renew_ms"), time("retry_ms"), time("margin_ms")},
       .identity = "probe-" + name},
      metrics);
  if (!manager) {
    std::cerr << manager.error().message << "\n";
    return 2;
  }
  const auto added = (*manager)->add(
      {.name = "probe",
       .lease = "probe.paddlepaddle.org",
       .workers = 2,
       .limits = {.first_pause = milliseconds{1}, .longest_pause = milliseconds{500}}},
      [&](const controllers::ControllerContext& around) { return writer(around, name); });
  if (!added) return 2;
  const auto ended = (*manager)->run(signals.token());
  if (ended) return 0;
  std::cerr << ended.error().message << "\n";
  std::_Exit(1);
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  std::map<std::string, std::string> args;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const size_t equals = arg.find('=');
    if (equals != arg.npos) args[arg.substr(0, equals)] = arg.substr(equals + 1);
  }
  return paddle::run(std::move(args));
}
