// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/manager.h"

#include <algorithm>

#include "base/log.h"

namespace paddle::controllers {
namespace {

bool switched_off(const std::string& address) { return address.empty() || address == "0"; }

}  // namespace

// One controller and the objects that it does not share. Destroyed in reverse: workers before what
// they use.
struct Manager::ManagedController {
  std::unique_ptr<kube::Elector> elector{};  // null: no election
  std::unique_ptr<kube::EventRecorder> events{};
  Reconcile reconcile{};
  std::unique_ptr<Controller> controller{};
};

Result<std::unique_ptr<Manager>> Manager::make(kube::Cluster& cluster, ManagerOptions options,
                                               Metrics& metrics, const Clock& clock,
                                               Random& random) {
  for (const auto& address : {options.metrics_address, options.health_address}) {
    if (!switched_off(address)) CHECK_DONE(net::parse_address(address));
  }
  if (options.leader_elect) {
    CHECK_DONE(kube::check(options.lease));
    if (options.lease_namespace.empty()) {
      return Error{Code::kInvalid, "leader election needs a namespace for its leases"};
    }
  }
  if (options.identity.empty()) options.identity = kube::elector_identity(random);
  return std::unique_ptr<Manager>(new Manager(cluster, std::move(options), metrics, clock, random));
}

Manager::Manager(kube::Cluster& cluster, ManagerOptions options, Metrics& metrics,
                 const Clock& clock, Random& random)
    : cluster_(cluster),
      options_(std::move(options)),
      metrics_(metrics),
      clock_(clock),
      random_(random),
      informers_(cluster, metrics, options_.pace, clock, random) {}

Manager::~Manager() {
  health_server_.reset();
  metrics_server_.reset();
  informers_.stop();
  // What a reconciler runs in the background may use the queue of its controller until it ends.
  for (const auto& managed : controllers_) {
    managed->controller->stop();
    managed->reconcile = nullptr;
  }
}

Result<> Manager::add(ControllerSpec spec,
                      const std::function<Reconcile(const ControllerContext&)>& build) {
  auto managed = std::make_unique<ManagedController>();
  kube::Cluster* writes = &cluster_;
  if (options_.leader_elect && !spec.lease.empty()) {
    TRY(managed->elector, kube::Elector::make(cluster_,
                                              {.lease = {options_.lease_namespace, spec.lease},
                                               .identity = options_.identity,
                                               .timing = options_.lease},
                                              clock_, random_, metrics_));
    writes = &managed->elector->fenced();
  }
  managed->events = std::make_unique<kube::EventRecorder>(*writes, spec.name, clock_, metrics_);
  ManagedController* self = managed.get();
  managed->controller = std::make_unique<Controller>(
      ControllerOptions{spec.name, spec.workers, spec.limits},
      [self](const ObjectKey& key, std::stop_token stop) { return self->reconcile(key, stop); },
      clock_, random_, metrics_);
  managed->reconcile =
      build({*writes, informers_, *managed->events, managed->controller->queue(), metrics_});
  controllers_.push_back(std::move(managed));
  return Done{};
}

Result<> Manager::run(std::stop_token stop) {
  CHECK_DONE(listen());
  informers_.start();
  if (informers_.wait_until_synced(stop)) {
    ready_ = true;
    log::info("ready", {{"controllers", controllers_.size()}});
    begin();
    while (!stop.stop_requested()) clock_.sleep(std::chrono::hours{1}, stop);
  }
  ready_ = false;
  return end();
}

Result<> Manager::listen() {
  if (!switched_off(options_.metrics_address)) {
    TRY(const net::Address address, net::parse_address(options_.metrics_address));
    TRY(metrics_server_, net::HttpServer::start(address, [this](const net::ServerRequest& ask) {
          return metrics_reply(ask);
        }));
  }
  if (!switched_off(options_.health_address)) {
    TRY(const net::Address address, net::parse_address(options_.health_address));
    TRY(health_server_, net::HttpServer::start(address, [this](const net::ServerRequest& ask) {
          return health_reply(ask, {.alive = alive(), .ready = ready_});
        }));
  }
  listening_ = true;
  for (const auto& [what, server] :
       {std::pair("metrics", &metrics_server_), {"health", &health_server_}}) {
    if (*server)
      log::info("listening", {{"endpoint", what}, {"address", to_string((*server)->address())}});
  }
  return Done{};
}

bool Manager::alive() const {
  for (const auto& managed : controllers_) {
    const auto longest = managed->controller->queue().longest_running();
    if (is_alive(longest)) continue;
    log::error("a pass does not end; the process should be restarted",
               {{"controller", managed->controller->name()},
                {"running_s", std::chrono::duration_cast<std::chrono::seconds>(longest).count()}});
    return false;
  }
  return true;
}

net::ServerReply Manager::metrics_reply(const net::ServerRequest& ask) {
  if (ask.path != "/metrics") return {.status = 404, .body = "404 page not found\n"};
  for (const auto& managed : controllers_) managed->controller->queue().refresh_metrics();
  return {.body = metrics_.text(), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

void Manager::begin() {
  for (const auto& managed : controllers_) {
    Controller& controller = *managed->controller;
    if (managed->elector) {
      managed->elector->start(
          {[&controller] { controller.start(); }, [&controller] { controller.stop(); }});
    } else {
      controller.start();
    }
  }
}

Result<> Manager::end() {
  const BootTime deadline = clock_.boot() + options_.drain_limit;
  const auto left = [&] { return std::max(deadline - clock_.boot(), std::chrono::nanoseconds{0}); };
  for (const auto& managed : controllers_) managed->controller->queue().close();
  std::vector<Controller*> unfinished;
  for (const auto& managed : controllers_) {
    if (!managed->controller->drain(left())) unfinished.push_back(managed->controller.get());
  }
  std::string stuck;
  for (Controller* controller : unfinished) {
    log::warn("passes did not finish in time; cancelling them",
              {{"controller", controller->name()}});
    if (!controller->cancel(options_.cancel_limit)) stuck += " " + controller->name();
  }
  if (!stuck.empty()) return Error{Code::kDeadline, "passes did not end in time:" + stuck};

  for (const auto& managed : controllers_) {
    managed->events->flush(std::min<std::chrono::nanoseconds>(left(), options_.cancel_limit));
  }
  for (const auto& managed : controllers_) {
    if (managed->elector) managed->elector->resign();
    managed->controller->stop();
  }
  informers_.stop();
  log::info("stopped");
  return Done{};
}

std::optional<net::Address> Manager::metrics_address() const {
  if (!listening_ || !metrics_server_) return std::nullopt;
  return metrics_server_->address();
}

std::optional<net::Address> Manager::health_address() const {
  if (!listening_ || !health_server_) return std::nullopt;
  return health_server_->address();
}

}  // namespace paddle::controllers
