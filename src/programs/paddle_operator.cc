// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "base/version.h"
#include "controllers/loop/signals.h"
#include "controllers/operator/add_controllers.h"
#include "controllers/operator/admission_policies.h"
#include "controllers/paddle_job/spec/elastic.h"
#include "kube/client/client.h"
#include "kube/client/load_config.h"
#include "kube/leader/pod_identity.h"
#include "programs/flags/flag_parser.h"
#include "programs/operator/command_line.h"

namespace {

using namespace paddle;

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

// The controllers may be given in the environment, so that replacing all arguments of a Deployment
// does not lose them. A flag has precedence.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> all(argv + 1, argv + argc);
  const std::string controllers = variable("PADDLE_CONTROLLERS", "");
  const auto is_controllers_flag = [](const std::string& arg) {
    return arg.starts_with("--controllers") || arg.starts_with("-controllers");
  };
  if (!controllers.empty() && std::ranges::none_of(all, is_controllers_flag)) {
    all.push_back("--controllers=" + controllers);
  }
  return all;
}

// The operator's own namespace, where leases are kept.
std::string own_namespace(const kube::Environment& environment) {
  std::string ns;
  std::ifstream(environment.service_account + "/namespace") >> ns;
  return ns.empty() ? variable("POD_NAMESPACE", "paddle-system") : ns;
}

// What the flags do not set: images, the operator's namespace and etcd, from the environment.
controllers::OperatorOptions options_of(const programs::OperatorFlags& flags,
                                        const kube::Environment& environment) {
  controllers::OperatorOptions options = flags.options;
  options.runtime.image = variable("RUNTIME_IMAGE", std::string("paddle-cache:v") + kVersion);
  options.juicefs_image =
      variable("JUICEFS_RUNTIME_IMAGE", std::string("paddle-cache-juicefs:v") + kVersion);
  options.runtime.operator_namespace = own_namespace(environment);
  // Without the flag, the Service `paddle-elastic-etcd` beside the operator.
  options.etcd_server = controllers::paddle_job::etcd_server_of(
      options.etcd_server, std::getenv("PADDLE_ELASTIC_ETCD_SERVICE_HOST"),
      std::getenv("PADDLE_ELASTIC_ETCD_SERVICE_PORT"));
  options.paddle_job.ipv6 = environment.service_host.find(':') != std::string::npos;
  return options;
}

void set_up_log(const programs::OperatorFlags& flags) {
  log::set_format(flags.log_encoder == "json" ? log::Format::kJson : log::Format::kText);
  if (flags.log_level == "debug") log::set_level(log::Level::kDebug);
  if (flags.log_level == "warn") log::set_level(log::Level::kWarn);
  if (flags.log_level == "error") log::set_level(log::Level::kError);
}

Result<> run(const programs::OperatorFlags& flags, std::stop_token stop) {
  const auto environment = kube::environment_of_process();
  TRY(kube::Config config, kube::load_config({.path = flags.kubeconfig}, environment));
  log::info("paddle-operator starts", {{"version", kVersion}, {"cluster", config.origin}});

  const auto identity = kube::PodIdentity::claim(variable("POD_NAME", ""), variable("POD_UID", ""));
  Metrics metrics;
  kube::Client client(std::move(config), {.metrics = &metrics});
  TRY(const auto manager,
      controllers::Manager::make(client,
                                 {.metrics_address = flags.metrics_bind_address,
                                  .health_address = flags.health_probe_bind_address,
                                  .leader_elect = flags.leader_elect,
                                  .lease_namespace = own_namespace(environment),
                                  .identity = identity ? identity->text() : ""},
                                 metrics));
  CHECK_DONE(controllers::add_controllers(*manager, options_of(flags, environment)));
  const controllers::OperatorPod pod{{own_namespace(environment), variable("POD_NAME", "")},
                                     variable("POD_UID", "")};
  const std::jthread policies([&](std::stop_token ending) {
    controllers::report_missing_policies(client, pod, metrics, system_clock(), std::move(ending));
  });
  return manager->run(stop);
}

}  // namespace

int main(int argc, char** argv) {
  const auto command = programs::parse_operator(arguments(argc, argv));
  if (!command) {
    std::cerr << programs::usage_error("paddle-operator", command.error());
    return 2;
  }
  if (!command->text.empty()) {
    std::cout << command->text;
    return 0;
  }
  set_up_log(command->flags);
  controllers::Signals signals;
  const auto done = run(command->flags, signals.token());
  if (done) return 0;
  std::cerr << "paddle-operator: " << done.error().message << "\n";
  // Some reconciles did not end: running destructors would free what they still use.
  if (done.is(Code::kDeadline)) std::_Exit(1);
  return 1;
}
