// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/world_observer.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/loop/sources.h"
#include "controllers/resource_metrics/resource_metrics.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/observe/runtime_reports.h"
#include "controllers/sample_set/observe/watch_mapping.h"
#include "engine/names.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_set {

using kube::ObjectKey;
namespace kinds = kube::resources;

namespace {

bool is_well(const api::SampleSetStatus& status) {
  const auto* ready = api::find_condition(status.conditions, condition_type::kReady);
  const auto* degraded = api::find_condition(status.conditions, condition_type::kDegraded);
  return ready && ready->status == "True" && (!degraded || degraded->status != "True");
}

// Sets that run, and those that were first. Of one that the limit blocks, what runs.
std::int32_t counted_partitions(const api::SampleSet& other, const api::SampleSet& set) {
  const auto* ready = api::find_condition(other.status.conditions, condition_type::kReady);
  const bool blocked = ready && ready->reason == reason::kCacheLimit;
  const auto& runtime = other.status.runtime;
  if (blocked) return runtime ? runtime->ready_replicas : 0;
  const bool counts = runtime || is_older(other.meta, set.meta);
  return counts ? other.spec.effective_partitions() : 0;
}

}  // namespace

WorldObserver::WorldObserver(const ControllerContext& context, const std::string& ns,
                             const Config& config, runtime::RuntimePolls polls,
                             runtime::RuntimeSends sends, const Clock& clock)
    : cluster_(context.cluster),
      ns_(ns),
      config_(config),
      clock_(clock),
      sets_(context.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = ns_},
                                                 {"sample-set", api::decode_sample_set})),
      volumes_(context.informers.of<VolumeSummary>(kinds::kPersistentVolumes,
                                                   {.label_selector = engine::kSetLabel},
                                                   {"volume", decode_volume})),
      claims_(context.informers.of<VolumeSummary>(kinds::kClaims, labelled(),
                                                  {"volume", decode_volume})),
      services_(context.informers.of<MetaSummary>(kinds::kServices, labelled(),
                                                  {"meta", decode_meta_summary})),
      runtimes_(context.informers.of<StatefulSetSummary>(kinds::kStatefulSets, labelled(),
                                                         {"runtimes", decode_stateful_set})),
      pods_(context.informers.of<api::Pod>(kinds::kPods, labelled(), {"pod", api::decode_pod})),
      nodes_(context.informers.of<NodeSummary>(kinds::kNodes, {}, {"host", decode_node_summary})),
      jobs_(context.informers.of<JobSummary>(kinds::kPaddleJobs, {.ns = ns_},
                                             {"user-job", decode_job_summary})),
      policies_(context.cluster, context.informers, kinds::kNetworkPolicies, labelled(),
                {"meta", decode_meta_summary},
                [&queue = context.queue](const kube::Store<MetaSummary>& store) {
                  owns(store, kinds::kSampleSets, queue);
                }),
      // A changed driver enqueues every set: each pass checks whether its set waits for it.
      drivers_(context.cluster, context.informers, kinds::kCsiDrivers, {},
               {"meta", decode_meta_summary},
               [&queue = context.queue, sets = sets_](const kube::Store<MetaSummary>& store) {
                 watches(store, queue, [sets](const MetaSummary&) {
                   std::vector<ObjectKey> keys;
                   for (const auto& set : sets.list()) keys.push_back(set->meta.key);
                   return keys;
                 });
               }),
      csi_nodes_(context.cluster, context.informers, kinds::kCsiNodes, {},
                 {"csi-node", decode_csi_node},
                 [&queue = context.queue, pods = pods_](const kube::Store<CsiNodeSummary>& store) {
                   watches(store, queue, [pods](const CsiNodeSummary& node) {
                     return sets_with_pods_on(pods, node.meta.key.name);
                   });
                 }),
      poller_(
          std::move(polls), [&queue = context.queue](const ObjectKey& set) { queue.add(set); },
          clock, !config_.polls_in_passes),
      requests_(
          std::move(sends), [&queue = context.queue](const ObjectKey& set) { queue.add(set); },
          clock) {
  add_indices();
  watch(context.queue);
  report_metrics(sets_, SampleSetMetrics(context.metrics));
}

kube::Scope WorldObserver::labelled() const {
  return {.ns = ns_, .label_selector = engine::kSetLabel};
}

void WorldObserver::add_indices() {
  sets_.add_index(kByName,
                  [](const api::SampleSet& set) { return std::vector{set.meta.key.name}; });
  sets_.add_index(kBySecret, secrets_of);
  sets_.add_index(kByNamespace,
                  [](const api::SampleSet& set) { return std::vector{set.meta.key.ns}; });
  pods_.add_index(kBySet, [](const api::Pod& pod) { return to_strings(set_of_pod(pod)); });
  pods_.add_index(kByNode, [](const api::Pod& pod) {
    return pod.node.empty() ? std::vector<std::string>{} : std::vector{pod.node};
  });
  nodes_.add_index(kByLabel, [](const NodeSummary& node) {
    std::vector<std::string> labels;
    for (const auto& [label, value] : node.meta.labels) labels.push_back(label);
    return labels;
  });
  jobs_.add_index(kBySet, [](const JobSummary& job) { return to_strings(set_of_job(job)); });
  volumes_.add_index(kBySet, [ns = ns_](const VolumeSummary& volume) {
    return to_strings(set_of_volume(volume, ns));
  });
}

void WorldObserver::watch(WorkQueue& queue) {
  for_spec(sets_, queue);
  // The node label that sets of one name share becomes that of the next one.
  sets_.on_change([&queue, sets = sets_](const ObjectKey& key, const api::SampleSet*,
                                         const api::SampleSet* after) {
    if (after) return;
    for (const auto& namesake : sets.list(kByName, key.name)) queue.add(namesake->meta.key);
  });
  owns(claims_, kinds::kSampleSets, queue);
  owns(services_, kinds::kSampleSets, queue);
  owns(runtimes_, kinds::kSampleSets, queue);
  watches(pods_, queue, set_of_pod);
  watches(volumes_, queue,
          [ns = ns_](const VolumeSummary& volume) { return set_of_volume(volume, ns); });
  // The sets with runtimes on the node when its readiness changes, and orphans with labels there.
  nodes_.on_change([&queue, sets = sets_, pods = pods_, ns = ns_](
                       const ObjectKey& key, const NodeSummary* before, const NodeSummary* after) {
    const bool changed = (before && before->ready) != (after && after->ready);
    if (changed) {
      for (const auto& set : sets_with_pods_on(pods, key.name)) queue.add(set);
    }
    for (const NodeSummary* state : {before, after}) {
      if (!state) continue;
      for (const auto& set : sets_on_node(state->meta, ns)) {
        if (!sets.find(set)) queue.add(set);
      }
    }
  });
  // Jobs change what is cached, and a deleted set waits for the jobs that use it. Nothing else of
  // their many status writes concerns the set.
  jobs_.on_change([&queue](const ObjectKey&, const JobSummary* before, const JobSummary* after) {
    if (before && after && *before == *after) return;
    for (const JobSummary* state : {before, after}) {
      if (!state) continue;
      for (const ObjectKey& set : set_of_job(*state)) queue.add(set);
    }
  });
}

Result<std::optional<World>> WorldObserver::observe(const api::SampleSet& set,
                                                    const kube::Call& call) {
  World world;
  world.since_status_write = writes_.since(set.meta.key, clock_.boot());
  observe_owned(set, world);
  observe_users(set, world);
  observe_nodes(set, world);
  CHECK_DONE(observe_secrets(set, world, call));
  if (!set.meta.deleting()) CHECK_DONE(observe_missing_runtimes(set, world, call));
  TRY(const bool complete, observe_lazy_kinds(set, world, call));
  if (!complete) return std::optional<World>{};
  if (world.token && !set.meta.deleting() && !observe_runtimes(set, world)) {
    // Later, unless it takes long: the rest of the set must not wait for it.
    if (cache_.waits(set.meta.key, clock_.boot()) < kFirstAnswer) return std::optional<World>{};
  }
  cache_.waits_no_longer(set.meta.key);
  return std::optional(std::move(world));
}

void WorldObserver::observe_owned(const api::SampleSet& set, World& world) const {
  const auto& ns = set.meta.key.ns;
  if (const auto found = volumes_.find({"", engine::handle_of(set)})) world.volume = *found;
  if (const auto found = claims_.find({ns, engine::claim_name(set)})) world.claim = *found;
  if (const auto found = services_.find({ns, engine::service_name(set)})) {
    world.service = found->meta;
  }
  if (const auto found = runtimes_.find({ns, engine::runtime_name(set)})) {
    world.runtimes = *found;
  }
  for (const auto& pod : pods_.list(kBySet, to_string(set.meta.key))) {
    if (pod->meta.key.name == engine::preparation_name(set)) world.preparation = *pod;
    world.pods.push_back(*pod);
  }
}

void WorldObserver::observe_users(const api::SampleSet& set, World& world) const {
  for (const auto& job : jobs_.list(kBySet, to_string(set.meta.key))) {
    world.users.push_back({job->key.name, job->uid});
  }
  std::ranges::sort(world.users, {}, &UserJob::uid);
  const auto current = sets_.find(set.meta.key);
  world.replaced = current && current->meta.uid != set.meta.uid;
  world.deletion_forced = is_forced(set.meta) || (world.volume && is_forced(world.volume->meta));
  if (config_.namespace_cache_mib > 0) world.cache_mib_of_others = cache_of_others(set);
  const auto namesakes = sets_.list(kByName, set.meta.key.name);
  world.has_older_namesake = std::ranges::any_of(namesakes, [&](const auto& other) {
    return other->meta.key.ns != set.meta.key.ns && is_older(other->meta, set.meta);
  });
  if (!set.spec.secret) return;
  const ObjectKey secret{set.meta.key.ns, set.spec.secret->name};
  for (const auto& other : sets_.list(kBySecret, to_string(secret))) {
    if (share_volume_path(set, *other)) world.volume_sharers.push_back(other->meta.key.name);
  }
  std::ranges::sort(world.volume_sharers);
}

void WorldObserver::observe_nodes(const api::SampleSet& set, World& world) const {
  std::vector<std::string> labels{engine::node_label(set)};
  if (!set.status.engine.empty()) labels.push_back(engine::cache_label(set, set.status.engine));
  for (const auto& label : labels) {
    for (const auto& node : nodes_.list(kByLabel, label)) {
      world.node_labels[node->meta.key.name][label] = node->meta.labels.at(label);
    }
  }
  bool unready = false;
  for (const api::Pod& pod : world.pods) {
    if (pod.node.empty()) continue;
    const auto node = nodes_.find({"", pod.node});
    if (node) world.runtime_nodes[pod.node] = *node;
    unready |= !node || !node->ready;
  }
  if (!unready) return;
  const auto all = nodes_.list();
  world.any_node_ready = std::ranges::any_of(all, [](const auto& node) { return node->ready; });
}

Result<std::optional<SecretContents>> WorldObserver::read_secret(const api::SampleSet& set,
                                                                 const ObjectKey& key,
                                                                 const kube::Call& call) {
  if (key.name.empty()) return std::optional<SecretContents>{};  // a get would list all of them
  const SecretAges& ages = config_.secrets;
  const auto age = is_well(set.status) ? ages.usual : ages.in_trouble;
  if (auto known = cache_.secret(key, clock_.boot(), ages.missing, age)) {
    return std::move(known->contents);
  }
  const BootTime now = clock_.boot();
  auto found = cluster_.get(kinds::kSecrets, key, call);
  std::optional<SecretContents> contents;
  if (found) {
    TRY(contents, decode_secret(*found));
  } else if (!found.is(Code::kNotFound)) {
    return std::move(found).error().in("read secret " + key.name);
  }
  cache_.put_secret(key, contents, now);
  return contents;
}

std::int64_t WorldObserver::cache_of_others(const api::SampleSet& set) const {
  std::int64_t sum = 0;
  for (const auto& other : sets_.list(kByNamespace, set.meta.key.ns)) {
    if (other->meta.uid == set.meta.uid) continue;
    const auto* builder = find_builder(config_.engines, other->status.engine);
    if (!builder) continue;  // nothing was created for it yet
    const auto mib = builder->cache_mib(*other, config_.runtime);
    if (mib) sum += *mib * counted_partitions(*other, set);
  }
  return sum;
}

Result<> WorldObserver::observe_secrets(const api::SampleSet& set, World& world,
                                        const kube::Call& call) {
  const auto& ns = set.meta.key.ns;
  const ObjectKey token{ns, engine::runtime_name(set)};
  const ObjectKey copy{ns, engine::volume_secret_name(set)};
  const ObjectKey driver_copy{config_.runtime.volume_secrets_namespace,
                              engine::driver_secret_name(set)};
  std::set<ObjectKey> used{token, copy, driver_copy};
  if (const auto* ref = credentials_reference(set)) used.insert({ns, ref->name});
  if (set.spec.source && set.spec.source->secret) used.insert({ns, set.spec.source->secret->name});
  cache_.keep_secrets(set.meta.key, std::move(used));
  TRY(const auto identity, read_secret(set, token, call));
  if (identity) world.token = identity->meta;
  for (const auto& [key, copy_of] :
       {std::pair(copy, &world.credentials), std::pair(driver_copy, &world.driver_credentials)}) {
    auto contents = read_secret(set, key, call);
    // Rights of an older installation: creating it is refused as well, and the status says so.
    if (contents.is(Code::kForbidden) && copy_of == &world.driver_credentials) continue;
    if (!contents) return std::move(contents).error();
    if (*contents) *copy_of = CopySummary{(*contents)->meta, std::move((*contents)->values)};
  }
  const bool ours = world.credentials && engine::belongs_to(world.credentials->meta, set);
  if (set.meta.deleting()) return Done{};
  if (const auto* ref = credentials_reference(set)) {
    world.secret = SecretSummary{};
    const ObjectKey key{ns, ref->name};
    const bool elsewhere = !ref->ns.empty() && ref->ns != ns;
    if (!elsewhere) {
      TRY(const auto contents, read_secret(set, key, call));
      if (contents) world.secret = SecretSummary{true, contents->version, contents->values};
    }
    if (!world.secret->exists && ours) world.secret->values = world.credentials->values.value();
  }
  if (ours) world.secret_versions = version_of(world.credentials->meta);
  if (set.spec.source && set.spec.source->secret) {
    const auto& ref = *set.spec.source->secret;
    TRY(const auto contents, read_secret(set, {ns, ref.name}, call));
    world.source_secret_missing = !contents && !may_be_missing(ref);
    if (contents) {
      world.secret_versions += (world.secret_versions.empty() ? "" : ",") + contents->version;
    }
  }
  return Done{};
}

// The StatefulSet controller says only in events why it cannot create a pod. They are not watched:
// there are many, and they are needed rarely.
Result<> WorldObserver::observe_missing_runtimes(const api::SampleSet& set, World& world,
                                                 const kube::Call& call) {
  const ObjectKey& key = set.meta.key;
  if (!runtimes_missing(set, world, clock_.wall())) {
    cache_.forget_creation_error(key);
    return Done{};
  }
  if (auto known = cache_.creation_error(key, clock_.boot())) {
    world.runtime_creation_error = *std::move(known);
    return Done{};
  }
  const api::Meta& runtimes = world.runtimes->meta;
  std::vector<FailedCreation> found;
  const kube::ListOptions options{.ns = key.ns,
                                  .field_selector = "involvedObject.kind=StatefulSet," +
                                                    ("involvedObject.name=" + runtimes.key.name) +
                                                    ",involvedObject.uid=" + runtimes.uid};
  auto listed = cluster_.list(
      kinds::kEvents, options,
      [&](std::string_view text) -> Result<> {
        TRY(const api::Json event, api::parse_json(std::string(text)));
        if (auto failed = failed_creation(event, runtimes.uid)) found.push_back(*std::move(failed));
        return Done{};
      },
      call);
  // An older installation may not allow it: the set waits without saying why.
  if (!listed && !listed.is(Code::kForbidden)) return std::move(listed).error().in("list events");
  const auto newest = std::ranges::max_element(found, {}, &FailedCreation::last);
  if (newest != found.end()) world.runtime_creation_error = newest->message;
  cache_.put_creation_error(key, world.runtime_creation_error, clock_.boot());
  return Done{};
}

// The engine's manifests show which kinds the set needs.
Result<bool> WorldObserver::observe_lazy_kinds(const api::SampleSet& set, World& world,
                                               const kube::Call& call) {
  const auto started = [&](auto& informer) -> Result<bool> {
    TRY(const auto state, informer.ask(call));
    return state != std::remove_reference_t<decltype(informer)>::State::kBegins;
  };
  const ObjectKey policy{set.meta.key.ns, engine::runtime_name(set)};
  if (set.meta.deleting()) {  // starts no informer
    if (const auto store = policies_.find()) {
      if (const auto found = store->find(policy)) world.policy = found->meta;
    }
    return true;
  }
  const EngineSelection selection = select_engine(set, world, config_);
  if (selection.manifests.policy) {
    TRY(const bool has_policies, started(policies_));
    if (!has_policies) return false;
    if (const auto store = policies_.find()) {
      world.supports_policies = true;
      if (const auto found = store->find(policy)) world.policy = found->meta;
    }
  }
  if (selection.manifests.csi_driver.empty()) return true;
  TRY(const bool has_drivers, started(drivers_));
  TRY(const bool has_nodes, started(csi_nodes_));
  if (!has_drivers || !has_nodes) return false;
  world.drivers = CsiDriverSummary{};
  if (const auto store = drivers_.find()) {
    for (const auto& driver : store->list()) world.drivers->installed.insert(driver->meta.key.name);
  }
  if (const auto store = csi_nodes_.find()) {
    for (const api::Pod& pod : world.pods) {
      if (const auto node = store->find({"", pod.node})) {
        world.drivers->on_node[pod.node] = node->drivers;
      }
    }
  }
  return true;
}

bool WorldObserver::observe_runtimes(const api::SampleSet& set, World& world) {
  const auto credentials = runtime_credentials(set);
  if (!credentials) return true;
  const auto runtimes = running_runtimes(set, world);
  poller_.watch(set.meta.key, polls_of(set, runtimes, *credentials),
                poll_interval(set.status, config_.polls));
  bool all_answered = true, refused = false;
  for (const RunningRuntime& runtime : runtimes) {
    const auto answer = poller_.find(set.meta.key, runtime.uid);
    all_answered &= answer.has_value();
    refused |= answer && answer->error && runtime::refuses_access(*answer->error);
    world.runtime_reports.push_back(report_from(set, runtime, answer));
  }
  // The next pass reads the Secret again.
  if (refused) cache_.forget_secret({set.meta.key.ns, engine::runtime_name(set)});
  return all_answered;
}

std::optional<runtime::RuntimeCredentials> WorldObserver::runtime_credentials(
    const api::SampleSet& set) const {
  const ObjectKey key{set.meta.key.ns, engine::runtime_name(set)};
  const auto contents = cache_.latest(key);
  if (!contents || !engine::belongs_to(contents->meta, set)) return std::nullopt;
  const auto* builder = find_builder(config_.engines, set.status.engine);
  return runtime::credentials_from(contents->values, key.ns, set.meta.key.name,
                                   builder && builder->serves_tls());
}

std::optional<RuntimeRequests::Sent> WorldObserver::send(
    const api::SampleSet& set, const World& world, int partition, const std::string& id,
    std::optional<runtime::JobRequest> request) {
  const auto credentials = runtime_credentials(set);
  const auto runtimes = running_runtimes(set, world);
  const auto found = std::ranges::find(runtimes, partition, &RunningRuntime::partition);
  if (!credentials || found == runtimes.end()) return std::nullopt;
  return requests_.send(set.meta.key,
                        {found->uid, {found->address, *credentials, id, std::move(request)}},
                        [this, uid = found->uid] { poller_.refresh(uid); });
}

std::vector<api::SampleSet> WorldObserver::orphans(const ObjectKey& key,
                                                   const std::string& living_uid) const {
  std::vector<api::SampleSet> found;
  for (const auto& volume : volumes_.list(kBySet, to_string(key))) {
    found.push_back(orphan_of(*volume, clock_.wall()));
  }
  std::erase_if(found, [&](const auto& orphan) { return orphan.meta.uid == living_uid; });
  if (!found.empty() || !living_uid.empty()) return found;
  api::SampleSet orphan{.meta = {.key = key, .deleted = clock_.wall()}};
  for (const auto& node : nodes_.list(kByLabel, engine::node_label(orphan))) {
    orphan.status.engine = engine::engine_of(node->meta.labels, orphan);
    return {orphan};
  }
  return {};
}

void WorldObserver::forget(const ObjectKey& set) {
  cache_.forget(set);
  writes_.forget(set);
  poller_.forget(set);
  requests_.forget(set);
}

void WorldObserver::acknowledge(OwnedKind kind, const api::Json& stored) {
  switch (kind) {
    case OwnedKind::kToken:
    case OwnedKind::kCredentials:
    case OwnedKind::kDriverCredentials: {
      auto contents = decode_secret(stored);
      if (!contents) return;
      const ObjectKey key = contents->meta.key;
      return cache_.put_secret(key, *std::move(contents), clock_.boot());
    }
    case OwnedKind::kVolume:
      return volumes_.acknowledge(stored);
    case OwnedKind::kClaim:
      return claims_.acknowledge(stored);
    case OwnedKind::kService:
      return services_.acknowledge(stored);
    case OwnedKind::kPolicy:
      if (const auto store = policies_.find()) store->acknowledge(stored);
      return;
    case OwnedKind::kPreparation:
      return pods_.acknowledge(stored);
    case OwnedKind::kRuntimes:
      return runtimes_.acknowledge(stored);
  }
}

void WorldObserver::removed(OwnedKind kind, const ObjectKey& key) {
  const bool is_secret = kind == OwnedKind::kToken || kind == OwnedKind::kCredentials ||
                         kind == OwnedKind::kDriverCredentials;
  if (is_secret) cache_.forget_secret(key);
}

}  // namespace paddle::controllers::sample_set
