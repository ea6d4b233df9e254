// SPDX-License-Identifier: Apache-2.0
#include "local/machine/machine.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <sched.h>
#include <sys/mount.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/version.h"
#include "controllers/loop/manager.h"
#include "controllers/operator/add_controllers.h"
#include "kube/client/client.h"
#include "local/api_server/data_directory.h"
#include "local/api_server/server.h"
#include "local/cluster/cluster_controllers.h"
#include "local/node/network.h"
#include "local/node/node.h"
#include "local/node/pod_logs.h"
#include "local/node/sample_volumes.h"

namespace paddle::local {
namespace {

kube::Config config_of(const ClientConfig& client) {
  kube::Config config{.server = client.url, .token = client.token, .origin = "this machine"};
  config.tls.ca_pem = client.certificate;
  config.proxy = "";  // no proxy for this machine
  return config;
}

// Images are not pulled: runtimes are our own `paddle-cache`, found by PATH.
controllers::OperatorOptions our_controllers() {
  return {.controllers = {"paddlejob", "sampleset", "samplejob"},
          .runtime = {.image = std::string("paddle-cache:") + kVersion, .one_machine = true},
          .one_machine = true};
}

}  // namespace

// Members are destroyed in reverse order.
class Machine::Parts {
 public:
  explicit Parts(const MachineOptions& machine_options) : options(machine_options) {}
  ~Parts() {
    node.reset();
    stop_source.request_stop();
    if (running.joinable()) running.join();
  }

  Result<> serve() {
    const int before = options.port == 0 ? last_port(options.directory) : 0;
    auto started = start_server(before == 0 ? options.port : before);
    const bool moved = !started && before != 0;
    if (moved) started = start_server(0);
    if (!started) {
      return std::move(started).error().in(
          options.port == 0 ? "the API server does not start"
                            : "the API server does not start on port " +
                                  std::to_string(options.port) + " (choose another with --port)");
    }
    server = *std::move(started);
    url = server->url();
    CHECK_DONE(
        replace_private(options.directory.kubeconfig(), kubeconfig_of(server->client_config())));
    client = std::make_unique<kube::Client>(config_of(server->client_config()),
                                            kube::ClientOptions{.metrics = &metrics});
    const std::string port = url.substr(url.rfind(':') + 1);
    CHECK_DONE(replace_private(options.directory.port(), port + "\n"));
    report_step("API server at " + url +
                (moved ? "; its last port, " + std::to_string(before) +
                             ", is in use: copies of the kubeconfig need the new one"
                       : ""));
    return Done{};
  }

  Result<std::unique_ptr<ApiServer>> start_server(int port) const {
    ApiServerOptions server_options{.directory = options.directory.api()};
    server_options.http.port = port;
    server_options.api.logs = pod_logs(options.directory.node());
    return ApiServer::start(server_options);
  }

  Result<> control(const std::stop_token& stop) {
    TRY(manager, controllers::Manager::make(
                     *client, {.metrics_address = "0", .health_address = "0"}, metrics));
    CHECK_DONE(controllers::add_controllers(*manager, our_controllers()));
    CHECK_DONE(add_cluster_controllers(*manager));
    running = std::thread([this] {
      auto done = manager->run(stop_source.get_token());
      if (!done) log::error("the controllers failed", {{"error", done.error().message}});
      ended = true;
    });
    while (!manager->ready()) {
      if (ended) return Error{Code::kUnavailable, "the controllers do not start"};
      if (!system_clock().sleep(std::chrono::milliseconds{10}, stop)) {
        return Error{Code::kCancelled, "interrupted during the start"};
      }
    }
    report_step("controllers of PaddleJobs, SampleSets and SampleJobs");
    return Done{};
  }

  Result<> run_pods() {
    NodeOptions node_options{.directory = options.directory.node(),
                             .program = options.program,
                             .base_env = options.base_env,
                             .visible_directories = options.visible_directories,
                             .hidden = {options.directory.api(), options.directory.kubeconfig(),
                                        options.directory.log()},
                             .sealed_views = options.sealed_views};
    auto started = Node::start(*client, std::move(node_options), metrics);
    if (!started) return std::move(started).error().in("the node does not start");
    node = *std::move(started);
    report_step("node 'local' is ready: " + node->network_note());
    return Done{};
  }

  void report_step(const std::string& text) const {
    log::info("started", {{"part", text}});
    if (options.step) options.step(text);
  }

  const MachineOptions options;
  Metrics metrics{};
  std::string url{};
  std::unique_ptr<ApiServer> server{};
  std::unique_ptr<kube::Client> client{};
  std::unique_ptr<controllers::Manager> manager{};
  std::stop_source stop_source{};
  std::atomic<bool> ended{false};
  std::thread running{};
  std::unique_ptr<Node> node{};
};

Machine::Machine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Machine::~Machine() = default;

const std::string& Machine::url() const { return parts_->url; }

Result<std::unique_ptr<Machine>> Machine::start(const MachineOptions& options,
                                                std::stop_token stop) {
  auto parts = std::make_unique<Parts>(options);
  CHECK_DONE(parts->serve());
  CHECK_DONE(parts->control(stop));
  CHECK_DONE(parts->run_pods());
  if (stop.stop_requested()) return Error{Code::kCancelled, "interrupted during the start"};
  return std::unique_ptr<Machine>(new Machine(std::move(parts)));
}

Result<> unshare_mounts() {
  // Later mounts of the machine are visible here; our mounts are visible nowhere else.
  const bool hidden =
      ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
  if (hidden) return Done{};
  return Error{Code::kForbidden, std::string("this process may not create a mount namespace (") +
                                     std::strerror(errno) +
                                     "): run it as root, in a container with SYS_ADMIN"};
}

void remove_leftovers(const ClusterDirectory& directory) {
  // A Network takes over the bridge of an earlier one of that name, and its destructor removes it.
  const auto network = Network::bridge_or_loopback(directory.node());
}

Result<> release_caches(const ClusterDirectory& directory) {
  constexpr std::chrono::seconds kLimit{5};
  constexpr std::chrono::milliseconds kPause{100};
  const Clock& clock = system_clock();
  const BootTime deadline = clock.boot() + kLimit;
  while (true) {
    auto lifted = SampleVolumes::lift_leftovers(directory.node());
    if (lifted || clock.boot() >= deadline) return lifted;
    clock.sleep(kPause, {});
  }
}

std::map<std::string, std::string> pod_environment(const std::map<std::string, std::string>& ours,
                                                   const std::string& program_directory) {
  std::map<std::string, std::string> env{
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOME", "/root"}};
  for (const char* name : {"PATH", "HOME", "LANG", "TZ"}) {
    const auto found = ours.find(name);
    if (found != ours.end() && !found->second.empty()) env[name] = found->second;
  }
  env["PATH"] = program_directory + ":" + env["PATH"];
  return env;
}

}  // namespace paddle::local
