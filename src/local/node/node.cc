// SPDX-License-Identifier: Apache-2.0
#include "local/node/node.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/random.h"
#include "controllers/loop/controller.h"
#include "controllers/loop/sources.h"
#include "kube/informer/informers.h"
#include "local/node/node_object.h"
#include "local/node/object_data.h"
#include "local/node/pod_manager.h"

namespace paddle::local {
namespace {

using api::Json;
namespace kinds = kube::resources;
namespace fs = std::filesystem;

constexpr int kWorkers = 4;
// Users wait for pods: a failed write is retried within seconds.
constexpr controllers::QueueLimits kLimits{.longest_pause = std::chrono::seconds{10}};

std::unique_ptr<Network> make_network(const NodeOptions& options) {
  const std::string& instance = options.instance.empty() ? options.directory : options.instance;
  auto network = options.bridge ? Network::bridge_or_loopback(instance)
                                : Network::loopback(instance, "no bridge was requested");
  if (!network->bridged()) {
    log::warn("pods share this machine's network and have loopback addresses",
              {{"reason", network->why_not_bridged()}});
  } else if (!network->why_closed().empty()) {
    log::warn("pods reach each other and this machine, but no other network",
              {{"reason", network->why_closed()}});
  }
  return network;
}

std::vector<std::string> hidden_paths(const NodeOptions& options) {
  std::vector<std::string> paths = options.hidden;
  paths.push_back(options.directory);
  for (std::string& path : paths) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (!error) path = real.string();
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  }
  return paths;
}

}  // namespace

class Node::Impl {
 public:
  Impl(kube::Cluster& cluster, NodeOptions options, Metrics& metrics, const Clock& clock)
      : cluster_(cluster),
        options_(std::move(options)),
        clock_(clock),
        network_(make_network(options_)),
        samples_(options_.directory,
                 options_.cache_root.empty() ? options_.directory + "/cache" : options_.cache_root,
                 clock, options_.sealed_views),
        events_(cluster, "kubelet", clock, metrics),
        controller_(
            {.name = "node", .workers = kWorkers, .limits = kLimits},
            [this](const api::ObjectKey& key, std::stop_token stop) {
              return pod_manager_->reconcile(key, stop);
            },
            clock, system_random(), metrics),
        informers_(cluster, metrics, {}, clock) {}

  ~Impl() {
    controller_.stop();
    pod_manager_.reset();
    events_.flush(std::chrono::seconds{1});
    informers_.stop();
  }

  Result<> start() {
    CHECK_DONE(register_node());
    const auto pods = informers_.of<AssignedPod>(
        kinds::kPods, {.field_selector = "spec.nodeName=" + options_.name},
        {"assigned-pod", decode_assigned_pod});
    const auto claims =
        informers_.of<BoundClaim>(kinds::kClaims, {}, {"bound-claim", decode_bound_claim});
    const auto volumes = informers_.of<BoundVolume>(kinds::kPersistentVolumes, {},
                                                    {"bound-volume", decode_bound_volume});
    const kube::Projection<ObjectVersion> stamp{"object-stamp", decode_object_version};
    const auto config_maps = informers_.of<ObjectVersion>(kinds::kConfigMaps, {}, stamp);
    const auto secrets = informers_.of<ObjectVersion>(kinds::kSecrets, {}, stamp);
    const auto services =
        informers_.of<NamedService>(kinds::kServices, {}, {"named-service", decode_named_service});
    using Entries = std::vector<std::string>;
    pods.add_index(kNamespaceIndex, [](const AssignedPod& p) { return Entries{p.meta.key.ns}; });
    services.add_index(kNamespaceIndex, [](const NamedService& s) { return Entries{s.key.ns}; });
    pod_manager_ = std::make_unique<PodManager>(PodManagerOptions{
        .cluster = cluster_,
        .events = events_,
        .queue = controller_.queue(),
        .pods = pods,
        .claims = claims,
        .volumes = volumes,
        .config_maps = config_maps,
        .secrets = secrets,
        .services = services,
        .samples = samples_,
        .clock = clock_,
        .runner = {.program = options_.program,
                   .directory = options_.directory,
                   .network = network_.get(),
                   .clock = &clock_,
                   .objects = [this](const std::string& ns) { return object_data(cluster_, ns); },
                   .base_env = options_.base_env,
                   .visible_directories = options_.visible_directories,
                   .hidden = hidden_paths(options_)}});
    controllers::for_kind(pods, controller_.queue());
    volumes.on_change([this](const api::ObjectKey&, const BoundVolume*, const BoundVolume*) {
      controller_.queue().add(kVolumesKey);
    });
    wake_users(pods, config_maps, false);
    wake_users(pods, secrets, true);
    wake_neighbours(pods, services);
    informers_.start();
    informers_.wait_until_synced({});

    std::set<std::string> known;
    for (const auto& pod : pods.list()) known.insert(pod->meta.uid);
    remove_unknown_pod_files(options_.directory, known);
    controller_.queue().add(kVolumesKey);
    controller_.start();
    return Done{};
  }

  const Network& network() const { return *network_; }

 private:
  // A change of an object enqueues the pods that mount it.
  void wake_users(const kube::Store<AssignedPod>& pods, const kube::Store<ObjectVersion>& objects,
                  bool secret) {
    objects.on_change([this, pods, secret](const api::ObjectKey& key, const ObjectVersion*,
                                           const ObjectVersion*) {
      for (const auto& pod : pods.list()) {
        const bool near = pod->spec && pod->meta.key.ns == key.ns;
        if (near && mounts(*pod->spec, {secret, key.name})) controller_.queue().add(pod->meta.key);
      }
    });
  }

  // A change of what names lead to enqueues the pods that may look them up.
  void wake_neighbours(const kube::Store<AssignedPod>& pods,
                       const kube::Store<NamedService>& services) {
    const auto wake = [this, pods](const std::string& ns) {
      for (const auto& pod : pods.list(kNamespaceIndex, ns)) {
        controller_.queue().add(pod->meta.key);
      }
    };
    services.on_change([wake](const api::ObjectKey& key, const NamedService*, const NamedService*) {
      wake(key.ns);
    });
    pods.on_change([wake, services](const api::ObjectKey& key, const AssignedPod* before,
                                    const AssignedPod* after) {
      if (!changes_names(before, after)) return;
      if (!services.list(kNamespaceIndex, key.ns).empty()) wake(key.ns);
    });
  }

  Result<> register_node() {
    MachineInfo info = machine_info();
    info.address = network_->host_address();
    const api::ObjectKey key{"", options_.name};
    const Json object = node_object(options_.name, info, options_.labels);
    auto made = cluster_.create(kinds::kNodes, object);
    if (made.is(Code::kAlreadyExists)) made = cluster_.patch(kinds::kNodes, key, {.body = object});
    if (!made) return std::move(made).error().in("register the node");
    auto told = cluster_.patch(kinds::kNodes, key,
                               {.body = {{"status", node_status(info, clock_.wall())}}}, "status");
    if (!told) return std::move(told).error().in("write the node's status");
    return Done{};
  }

  kube::Cluster& cluster_;
  const NodeOptions options_;
  const Clock& clock_;
  const std::unique_ptr<Network> network_;
  SampleVolumes samples_;
  kube::EventRecorder events_;
  std::unique_ptr<PodManager> pod_manager_{};
  controllers::Controller controller_;
  kube::Informers informers_;
};

Result<std::unique_ptr<Node>> Node::start(kube::Cluster& cluster, NodeOptions options,
                                          Metrics& metrics, const Clock& clock) {
  if (!options.directory.starts_with('/')) {
    return Error{Code::kInvalid,
                 "the node's directory '" + options.directory + "' is not an absolute path"};
  }
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (error) return Error{Code::kInternal, "create " + options.directory + ": " + error.message()};
  fs::permissions(options.directory, fs::perms::owner_all, error);
  auto impl = std::make_unique<Impl>(cluster, std::move(options), metrics, clock);
  CHECK_DONE(impl->start());
  return std::unique_ptr<Node>(new Node(std::move(impl)));
}

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Node::~Node() = default;

std::string Node::host_address() const { return impl_->network().host_address(); }

std::string Node::network_note() const {
  const Network& network = impl_->network();
  if (!network.bridged()) {
    return "pods share this machine's network and have addresses in " + network.range() + ": " +
           network.why_not_bridged();
  }
  std::string note = "pods have addresses in " + network.range();
  if (network.why_closed().empty()) return note;
  return note + " but cannot reach other networks: " + network.why_closed();
}

}  // namespace paddle::local
