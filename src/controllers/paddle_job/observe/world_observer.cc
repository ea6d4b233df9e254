// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/observe/world_observer.h"

#include <algorithm>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "base/parallel_for.h"
#include "controllers/loop/sources.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/observe/elastic_store.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/job_defaults.h"
#include "controllers/placement/set_change.h"
#include "controllers/resource_metrics/resource_metrics.h"
#include "engine/names.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kByOwner = "controller-uid";
constexpr const char* kBySampleSet = "sample-set";  // jobs that have not finished
constexpr const char* kByLabel = "label";           // nodes
constexpr const char* kByHostPorts = "host-ports";
constexpr const char* kOccupied = "occupied";
constexpr const char* kByElasticId = "elastic-id";
constexpr const char* kNodeLeases = "kube-node-lease";
constexpr size_t kParallelReads = 16;

const kube::Resource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true};

// Only our own annotations, and no labels: thousands of pods are cached.
Result<api::Pod> decode_owned_pod(const Json& object) {
  TRY(api::Pod pod, api::decode_pod(object));
  std::erase_if(pod.meta.annotations, [](const auto& entry) {
    return entry.first != kReleaseAnnotation && entry.first != kReleasedAtAnnotation &&
           entry.first != kEpochAnnotation && entry.first != kTemplateHashAnnotation &&
           entry.first != placement::kPlacedAnnotation;
  });
  pod.meta.labels.clear();
  return pod;
}

Result<ServiceSummary> decode_service(const Json& object) {
  TRY(api::Meta meta, api::decode_meta(object));
  meta.labels.clear();
  meta.annotations.clear();
  return ServiceSummary{.meta = std::move(meta)};
}

Result<PeerConfigMap> decode_map(const Json& object) {
  PeerConfigMap map;
  TRY(map.meta, api::decode_meta(object));
  if (const Json& data = api::look(object, "data"); data.is_object()) {
    for (const auto& [key, value] : data.items()) {
      if (value.is_string()) map.data[key] = value.get<std::string>();
    }
  }
  return map;
}

Result<DefaultsMap> decode_defaults(const Json& object) {
  TRY(PeerConfigMap map, decode_map(object));
  DefaultsMap defaults{.meta = std::move(map.meta)};
  auto parsed = parse_defaults(map.data);
  if (!parsed) {
    defaults.error = parsed.error().message;
  } else if (!parsed->is_null()) {
    defaults.pod_template = api::Opaque(*std::move(parsed));
  }
  return defaults;
}

template <typename T>
std::vector<std::string> controller_uid(const T& object) {
  const auto* owner = object.meta.controller();
  return owner ? std::vector{owner->uid} : std::vector<std::string>{};
}

// A finished job reads nothing of its set.
std::vector<std::string> sample_set_of(const api::PaddleJob& job) {
  if (!job.spec.sample_set || api::paddle_job_phase::is_final(job.status.phase)) return {};
  return {to_string(ObjectKey{job.meta.key.ns, job.spec.sample_set->name})};
}

std::vector<std::string> host_ports_of(const api::PaddleJob& job) {
  if (occupied_port(job) == 0) return {};
  return {kOccupied};
}

std::vector<std::string> labels_of(const placement::NodeSummary& node) {
  std::vector<std::string> labels;
  for (const auto& [label, value] : node.labels) labels.push_back(label);
  return labels;
}

// Enqueues the unfinished jobs that read what has changed of the set.
void wake_jobs(const kube::Store<api::SampleSet>& sets, const kube::Store<api::PaddleJob>& jobs,
               WorkQueue& queue) {
  using placement::SetChange;
  sets.on_change([jobs, &queue](const ObjectKey& key, const api::SampleSet* before,
                                const api::SampleSet* after) {
    const auto change =
        before && after ? placement::change_for_jobs(*before, *after) : SetChange::kAll;
    if (change == SetChange::kNone) return;
    for (const auto& job : jobs.list(kBySampleSet, to_string(key))) {
      const bool gated = job->spec.sample_set && job->spec.sample_set->gate;
      if (change == SetChange::kAll || gated) queue.add(job->meta.key);
    }
  });
}

// Enqueues the unfinished jobs of the set whose claim has changed; both have the same name.
void wake_jobs(const kube::Store<placement::ClaimSummary>& claims,
               const kube::Store<api::PaddleJob>& jobs, WorkQueue& queue) {
  watches(claims, queue, [jobs](const placement::ClaimSummary& claim) {
    std::vector<ObjectKey> keys;
    for (const auto& job : jobs.list(kBySampleSet, to_string(claim.meta.key))) {
      keys.push_back(job->meta.key);
    }
    return keys;
  });
}

}  // namespace

const kube::Resource& resource_of(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kPod:
      return kinds::kPods;
    case OwnedKind::kService:
      return kinds::kServices;
    case OwnedKind::kConfigMap:
      return kinds::kConfigMaps;
    case OwnedKind::kPodGroup:
      break;
  }
  return kPodGroups;
}

WorldObserver::WorldObserver(const ControllerContext& context, const std::string& ns,
                             const Config& config, std::shared_ptr<etcd::Store> etcd,
                             const PassPacing& pacing, const Clock& clock)
    : cluster_(context.cluster),
      config_(config),
      etcd_(std::move(etcd)),
      pacing_(pacing),
      clock_(clock),
      jobs_(context.informers.of<api::PaddleJob>(kinds::kPaddleJobs, {.ns = ns},
                                                 {"paddle-job", api::decode_paddle_job})),
      // Only objects with our label are cached.
      pods_(context.informers.of<api::Pod>(kinds::kPods,
                                           {.ns = ns, .label_selector = kJobNameLabel},
                                           {"our-pod", decode_owned_pod})),
      services_(context.informers.of<ServiceSummary>(kinds::kServices,
                                                     {.ns = ns, .label_selector = kJobNameLabel},
                                                     {"service", decode_service})),
      maps_(context.informers.of<PeerConfigMap>(kinds::kConfigMaps,
                                                {.ns = ns, .label_selector = kJobNameLabel},
                                                {"rendezvous", decode_map})),
      defaults_(context.informers.of<DefaultsMap>(
          kinds::kConfigMaps,
          {.ns = ns, .field_selector = std::string("metadata.name=") + kDefaultsName},
          {"job-defaults", decode_defaults})),
      sets_(context.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = ns},
                                                 {"sample-set", api::decode_sample_set})),
      groups_(context.cluster, context.informers, kPodGroups, {.ns = ns},
              {"pod-group", decode_pod_group},
              [&queue = context.queue](const kube::Store<PodGroupSummary>& groups) {
                // By name, not by owner: a group that a user created counts as well.
                watches(groups, queue,
                        [](const PodGroupSummary& group) { return std::vector{group.meta.key}; });
              }),
      // Labels are all that is read of a node: its status is not transferred.
      nodes_(context.cluster, context.informers, kinds::kNodes, {.metadata_only = true},
             {"node", placement::decode_node},
             [](const kube::Store<placement::NodeSummary>& nodes) {
               nodes.add_index(kByLabel, labels_of);
             }),
      // The SampleSet controller labels the claims that it creates.
      claims_(context.cluster, context.informers, kinds::kClaims,
              {.ns = ns, .label_selector = engine::kSetLabel}, {"claim", placement::decode_claim},
              [&queue = context.queue,
               jobs = jobs_](const kube::Store<placement::ClaimSummary>& claims) {
                wake_jobs(claims, jobs, queue);
              }) {
  pods_.add_index(kByOwner, controller_uid<api::Pod>);
  services_.add_index(kByOwner, controller_uid<ServiceSummary>);
  jobs_.add_index(kBySampleSet, sample_set_of);
  jobs_.add_index(kByHostPorts, host_ports_of);
  jobs_.add_index(kByElasticId, [etcd = config.etcd](const api::PaddleJob& job) {
    const bool uses_keys =
        is_elastic(job.spec, etcd) && !api::paddle_job_phase::is_final(job.status.phase);
    return uses_keys ? std::vector{elastic_job_id(job.meta.key)} : std::vector<std::string>{};
  });
  for_kind(jobs_, context.queue);
  report_metrics(jobs_, PaddleJobMetrics(context.metrics));
  owns(pods_, kinds::kPaddleJobs, context.queue);
  owns(services_, kinds::kPaddleJobs, context.queue);
  owns(maps_, kinds::kPaddleJobs, context.queue);
  wake_jobs(sets_, jobs_, context.queue);
  watches(defaults_, context.queue, [jobs = jobs_](const DefaultsMap& defaults) {
    std::vector<ObjectKey> keys;
    for (const auto& job : jobs.list()) {
      const bool waits = job->meta.key.ns == defaults.meta.key.ns &&
                         !api::paddle_job_phase::is_final(job->status.phase);
      if (waits) keys.push_back(job->meta.key);
    }
    return keys;
  });
}

// ---- the world ----

JobPtr WorldObserver::with_defaults(JobPtr job) const {
  if (!job) return job;
  const auto defaults = defaults_.find({job->meta.key.ns, kDefaultsName});
  if (!defaults || !defaults->pod_template) return job;
  return std::make_shared<const api::PaddleJob>(
      paddle_job::with_defaults(*job, *defaults->pod_template));
}

Result<std::optional<World>> WorldObserver::observe(const api::PaddleJob& job, Pass& pass) {
  World world;
  JobCache& cache = pass.cache;
  observe_pods(job, cache, world);
  for (const auto& service : services_.list(kByOwner, job.meta.uid)) {
    world.services.push_back(*service);
  }
  if (const auto map = maps_.find(job.meta.key); map && belongs_to(map->meta, job)) {
    world.peer_config = *map;
  }
  observe_ports(job, world);
  if (const auto defaults = defaults_.find({job.meta.key.ns, kDefaultsName});
      defaults && !defaults->error.empty()) {
    world.defaults_error = BlockReason{reasons::kInvalidDefaults,
                                       std::string("the key template of the ConfigMap ") +
                                           kDefaultsName + " cannot be read: " + defaults->error};
  }
  TRY(const bool data, observe_data(job, world, pass.call));
  TRY(const bool group, observe_pod_group(job, world, pass.call));
  if (!data || !group) return std::optional<World>{};

  observe_elastic(job, pass, world);
  if (pass.trouble) world.trouble = pass.trouble;
  if (cache.last_completed_uid == job.meta.uid) world.last_completed = cache.last_completed;
  world.busy = pacing_.busy();
  if (cache.status_pending_since) {
    world.status_pending_for = clock_.boot() - *cache.status_pending_since;
  }
  return std::optional<World>{std::move(world)};
}

void WorldObserver::observe_pods(const api::PaddleJob& job, JobCache& cache, World& world) const {
  std::set<std::string> shown;
  for (const auto& pod : pods_.list(kByOwner, job.meta.uid)) {
    const std::string& uid = pod->meta.uid;
    shown.insert(uid);
    if (cache.removed.contains(uid)) continue;
    if (!cache.deleted.contains(uid) || pod->meta.deleting()) {
      world.pods.push_back(pod);
      continue;
    }
    auto leaving = std::make_shared<api::Pod>(*pod);
    leaving->meta.deleted = kSoonGone;
    world.pods.push_back(std::move(leaving));
  }
  for (auto* uids : {&cache.deleted, &cache.removed}) {
    std::erase_if(*uids, [&](const std::string& uid) { return !shown.contains(uid); });
  }
}

void WorldObserver::observe_ports(const api::PaddleJob& job, World& world) {
  if (!uses_host_network(job.spec) || stored_port(job) > 0) {
    return reservations_.release(job.meta.key);
  }
  if (job.spec.suspend || job.meta.deleting()) reservations_.release(job.meta.key);
  world.ports_taken = ports_taken(jobs_.list(kByHostPorts, kOccupied), job.meta.uid);
  world.ports_taken.merge(reservations_.of_others(job.meta.key));
}

bool WorldObserver::reserve_ports(const api::PaddleJob& job, const Plan& plan) {
  if (!plan.status || stored_port(job) > 0 || !uses_host_network(job.spec)) return true;
  const int port = plan.status->port;
  if (port == 0) return true;
  if (!reservations_.reserve(job.meta.key, port)) return false;
  // A job that reserved these ports after they were chosen here, and has stored them since, shows
  // them before it releases its reservation.
  return !overlaps(port, ports_taken(jobs_.list(kByHostPorts, kOccupied), job.meta.uid));
}

bool WorldObserver::shares_elastic_id(const ObjectKey& job) const {
  const auto same = jobs_.list(kByElasticId, elastic_job_id(job));
  return std::ranges::any_of(same, [&](const JobPtr& other) { return other->meta.key != job; });
}

void WorldObserver::observe_elastic(const api::PaddleJob& job, Pass& pass, World& world) const {
  if (!job.spec.elastic) return;
  if (!etcd_) {
    world.elastic.reachable = false;
    return;
  }
  using Leftovers = ElasticState::Leftovers;
  JobCache& cache = pass.cache;
  ElasticState& elastic = world.elastic;
  elastic.id_owner = id_owner(job, jobs_.list(kByElasticId, elastic_job_id(job.meta.key)));
  if (cache.etcd_cleaned_uid != job.meta.uid) {
    elastic.leftovers = Leftovers::kPossible;
  } else if (pass.etcd_cleaned) {
    elastic.leftovers = Leftovers::kRemoved;
  }
  elastic.replicas = pass.elastic_replicas;
  elastic.reachable = !pass.etcd_error;
  if (api::paddle_job_phase::is_final(job.status.phase)) {
    elastic.to_be_removed = cache.etcd_in_use_uid == job.meta.uid;
  } else {
    cache.etcd_in_use_uid = job.meta.uid;
  }
}

// A kind that we may not read does not block jobs that could do without it.
template <typename T>
Result<bool> WorldObserver::ensure_started(LazyInformer<T>& informer, World& world,
                                           const kube::Call& call) {
  auto state = informer.ask(call);
  if (state.is(Code::kForbidden)) {
    world.trouble = BlockReason{reasons::kRefused, state.error().message};
    return true;
  }
  if (!state) return std::move(state).error();
  return *state != LazyInformer<T>::State::kBegins;
}

Result<bool> WorldObserver::observe_data(const api::PaddleJob& job, World& world,
                                         const kube::Call& call) {
  if (!job.spec.sample_set || api::paddle_job_phase::is_final(job.status.phase)) return true;
  const ObjectKey key{job.meta.key.ns, job.spec.sample_set->name};
  TRY(const bool nodes, ensure_started(nodes_, world, call));
  TRY(const bool claims, ensure_started(claims_, world, call));
  if (!nodes || !claims) return false;
  if (const auto set = sets_.find(key)) world.data.set = *set;
  if (const auto store = claims_.find()) {
    if (const auto claim = store->find(key)) world.data.claim = *claim;
  }
  const auto nodes_store = nodes_.find();
  if (!nodes_store || !world.data.set) return true;
  for (const std::string& label : placement::node_labels_of(*world.data.set)) {
    for (const auto& node : nodes_store->list(kByLabel, label)) {
      world.data.node_labels[label].insert(node->labels.at(label));
    }
  }
  return true;
}

Result<bool> WorldObserver::observe_pod_group(const api::PaddleJob& job, World& world,
                                              const kube::Call& call) {
  if (config_.scheduling.empty() || !uses_pod_group(job.spec, config_.scheduling)) return true;
  TRY(const bool started, ensure_started(groups_, world, call));
  if (!started) return false;
  const auto groups = groups_.find();
  world.pod_groups_known = groups.has_value();
  if (!groups) return true;
  if (const auto group = groups->find(job.meta.key)) world.pod_group = *group;
  return true;
}

// ---- answers to queries ----

Result<JobPtr> WorldObserver::answer(const std::vector<Query>& queries, const JobPtr& job,
                                     World& world, Pass& pass) {
  std::vector<std::string> nodes;
  bool confirm = false;
  for (const Query& query : queries) {
    if (const auto* lease = std::get_if<ReadNodeLease>(&query)) nodes.push_back(lease->node);
    if (std::holds_alternative<ReadElasticReplicas>(query)) read_replicas(*job, world, pass);
    confirm |= std::holds_alternative<ConfirmPods>(query);
  }
  CHECK_DONE(read_node_leases(nodes, world, pass.call));
  if (!confirm) return job;
  auto confirmed = confirm_pods(*job, world, pass.call);
  if (confirmed.is(Code::kNotFound)) return JobPtr{};
  return confirmed;
}

Result<JobPtr> WorldObserver::confirm_pods(const api::PaddleJob& job, World& world,
                                           const kube::Call& call) {
  TRY(const Json object, cluster_.get(kinds::kPaddleJobs, job.meta.key, call));
  TRY(api::PaddleJob stored, api::decode_paddle_job(object));
  jobs_.acknowledge(object);
  std::vector<PodPtr> pods;
  auto listed = cluster_.list(
      kinds::kPods,
      {.ns = job.meta.key.ns,
       .label_selector = std::string(kJobNameLabel) + "=" + job.meta.key.name},
      [&](std::string_view text) -> Result<> {
        TRY(const Json pod, api::parse_json(text));
        TRY(api::Pod decoded, decode_owned_pod(pod));
        if (!belongs_to(decoded.meta, stored)) return Done{};
        pods.push_back(std::make_shared<const api::Pod>(std::move(decoded)));
        return Done{};
      },
      call);
  if (!listed) return std::move(listed).error();
  world.pods = std::move(pods);
  world.confirmed = true;
  return with_defaults(std::make_shared<const api::PaddleJob>(std::move(stored)));
}

Result<> WorldObserver::read_node_leases(const std::vector<std::string>& nodes, World& world,
                                         const kube::Call& call) {
  std::vector<NodeLease> leases(nodes.size());
  CHECK_DONE(parallel_for(nodes.size(), kParallelReads, [&](size_t i) -> Result<> {
    auto lease = cluster_.get(kinds::kLeases, {kNodeLeases, nodes[i]}, call);
    if (lease.is(Code::kNotFound) || lease.is(Code::kForbidden)) return Done{};
    if (!lease) return std::move(lease).error().in("read the lease of node " + nodes[i]);
    if (const auto at = parse_rfc3339(api::look_text(*lease, "/spec/renewTime"))) {
      leases[i].renewed = *at;
    }
    return Done{};
  }));
  for (size_t i = 0; i < nodes.size(); ++i) world.node_leases[nodes[i]] = leases[i];
  return Done{};
}

void WorldObserver::read_replicas(const api::PaddleJob& job, World& world, Pass& pass) {
  auto stored = read_elastic_replicas(*etcd_, job.meta.key, pass.call.stop);
  if (!stored) {
    world.elastic.reachable = false;
    return pass.fail_etcd(std::move(stored).error().in("read the number of trainers from etcd"));
  }
  pass.cache.has_etcd_keys = true;
  pass.elastic_replicas = *stored;
  world.elastic.replicas = *std::move(stored);
}

void WorldObserver::acknowledge(OwnedKind kind, const Json& object) const {
  switch (kind) {
    case OwnedKind::kPod:
      return pods_.acknowledge(object);
    case OwnedKind::kService:
      return services_.acknowledge(object);
    case OwnedKind::kConfigMap:
      return maps_.acknowledge(object);
    case OwnedKind::kPodGroup:
      if (const auto groups = groups_.find()) groups->acknowledge(object);
      return;
  }
}

}  // namespace paddle::controllers::paddle_job
