// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/world_observer.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "controllers/loop/sources.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/engine_choice.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/observe/watch_mapping.h"
#include "engine/names.h"
#include "runtime/identity.h"

namespace paddle::controllers::sample_set {

using kube::ObjectKey;
namespace kinds = kube::resources;

const kube::Resource& resource_of(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kToken:
    case OwnedKind::kCredentials:
      return kinds::kSecrets;
    case OwnedKind::kVolume:
      return kinds::kPersistentVolumes;
    case OwnedKind::kClaim:
      return kinds::kClaims;
    case OwnedKind::kService:
      return kinds::kServices;
    case OwnedKind::kPolicy:
      return kinds::kNetworkPolicies;
    case OwnedKind::kPreparation:
      return kinds::kPods;
    case OwnedKind::kRuntimes:
      break;
  }
  return kinds::kStatefulSets;
}

WorldObserver::WorldObserver(const ControllerContext& around, const Options& options,
                             const Clock& clock)
    : cluster_(around.cluster),
      options_(options),
      clock_(clock),
      sets_(around.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = options_.ns},
                                                {"sample-set", api::decode_sample_set})),
      secrets_(around.informers.of<MetaSummary>(kinds::kSecrets,
                                                {.ns = options_.ns, .metadata_only = true},
                                                {"secret", decode_secret_meta})),
      volumes_(around.informers.of<VolumeSummary>(kinds::kPersistentVolumes,
                                                  {.label_selector = engine::kSetLabel},
                                                  {"volume", decode_volume})),
      claims_(around.informers.of<VolumeSummary>(kinds::kClaims, labelled(),
                                                 {"volume", decode_volume})),
      services_(around.informers.of<MetaSummary>(kinds::kServices, labelled(),
                                                 {"meta", decode_meta_summary})),
      runtimes_(around.informers.of<StatefulSetSummary>(kinds::kStatefulSets, labelled(),
                                                        {"runtimes", decode_stateful_set})),
      pods_(around.informers.of<api::Pod>(kinds::kPods, labelled(), {"pod", api::decode_pod})),
      nodes_(around.informers.of<NodeSummary>(kinds::kNodes, {}, {"host", decode_node_summary})),
      jobs_(around.informers.of<api::PaddleJob>(kinds::kPaddleJobs, {.ns = options_.ns},
                                                {"paddle-job", api::decode_paddle_job})),
      policies_(around.cluster, around.informers, kinds::kNetworkPolicies, labelled(),
                {"meta", decode_meta_summary},
                [&queue = around.queue](const kube::Store<MetaSummary>& store) {
                  owns(store, kinds::kSampleSets, queue);
                }),
      // Every set: whether one waits for the driver is seen when it is looked at.
      drivers_(around.cluster, around.informers, kinds::kCsiDrivers, {},
               {"meta", decode_meta_summary},
               [&queue = around.queue, sets = sets_](const kube::Store<MetaSummary>& store) {
                 watches(store, queue, [sets](const MetaSummary&) {
                   std::vector<ObjectKey> keys;
                   for (const auto& set : sets.list()) keys.push_back(set->meta.key);
                   return keys;
                 });
               }),
      csi_nodes_(around.cluster, around.informers, kinds::kCsiNodes, {},
                 {"csi-node", decode_csi_node},
                 [&queue = around.queue, pods = pods_](const kube::Store<CsiNodeSummary>& store) {
                   watches(store, queue, [pods](const CsiNodeSummary& node) {
                     return sets_with_pods_on(pods, node.meta.key.name);
                   });
                 }) {
  add_indices();
  listen(around.queue);
}

kube::Scope WorldObserver::labelled() const {
  return {.ns = options_.ns, .label_selector = engine::kSetLabel};
}

void WorldObserver::add_indices() {
  sets_.add_index(kByName,
                  [](const api::SampleSet& set) { return std::vector{set.meta.key.name}; });
  sets_.add_index(kBySecret, secrets_of);
  pods_.add_index(kBySet, [](const api::Pod& pod) { return to_strings(set_of_pod(pod)); });
  pods_.add_index(kByNode, [](const api::Pod& pod) {
    return pod.node.empty() ? std::vector<std::string>{} : std::vector{pod.node};
  });
  nodes_.add_index(kByLabel, [](const NodeSummary& node) {
    std::vector<std::string> labels;
    for (const auto& [label, value] : node.meta.labels) labels.push_back(label);
    return labels;
  });
  jobs_.add_index(kBySet, [](const api::PaddleJob& job) { return to_strings(set_of_job(job)); });
  volumes_.add_index(kBySet, [this_ns = options_.ns](const VolumeSummary& volume) {
    return to_strings(set_of_volume(volume, this_ns));
  });
}

void WorldObserver::listen(WorkQueue& queue) {
  for_kind(sets_, queue);
  owns(secrets_, kinds::kSampleSets, queue);
  owns(claims_, kinds::kSampleSets, queue);
  owns(services_, kinds::kSampleSets, queue);
  owns(runtimes_, kinds::kSampleSets, queue);
  watches(secrets_, queue, [sets = sets_](const MetaSummary& secret) {
    std::vector<ObjectKey> keys;
    for (const auto& set : sets.list(kBySecret, to_string(secret.meta.key))) {
      keys.push_back(set->meta.key);
    }
    return keys;
  });
  watches(pods_, queue, set_of_pod);
  watches(volumes_, queue, [this_ns = options_.ns](const VolumeSummary& volume) {
    return set_of_volume(volume, this_ns);
  });
  // Those whose runtimes are there, when it is lost or back; and those that left labels behind.
  nodes_.on_change([&queue, sets = sets_, pods = pods_, this_ns = options_.ns](
                       const ObjectKey& key, const NodeSummary* before, const NodeSummary* after) {
    const bool turned = (before && before->ready) != (after && after->ready);
    if (turned) {
      for (const auto& set : sets_with_pods_on(pods, key.name)) queue.add(set);
    }
    for (const NodeSummary* state : {before, after}) {
      if (!state) continue;
      for (const auto& set : sets_on_node(state->meta, this_ns)) {
        if (!sets.find(set)) queue.add(set);
      }
    }
  });
  // Whoever reads changes what is cached; and a set on its way out waits for its users.
  watches(jobs_, queue, set_of_job);
}

Result<std::optional<World>> WorldObserver::observe_world(const api::SampleSet& set,
                                                          const kube::Call& call) {
  World world;
  observe_children(set, world);
  observe_users(set, world);
  observe_nodes(set, world);
  CHECK_DONE(observe_secrets(set, world, call));
  TRY(const bool begun, observe_late_kinds(set, world, call));
  if (!begun) return std::optional<World>{};
  if (world.token && !set.meta.deleting()) poll(set, world, call.stop);
  return std::optional(std::move(world));
}

void WorldObserver::observe_children(const api::SampleSet& set, World& world) const {
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
    const auto& phase = job->status.phase;
    if (phase == "Completed" || phase == "Failed") continue;
    world.users.push_back({job->meta.key.name, job->meta.uid});
  }
  std::ranges::sort(world.users, {}, &User::uid);
  const auto named = sets_.find(set.meta.key);
  world.replaced = named && named->meta.uid != set.meta.uid;
  world.deletion_forced = is_forced(set.meta) || (world.volume && is_forced(world.volume->meta));
  const auto namesakes = sets_.list(kByName, set.meta.key.name);
  world.has_namesake = std::ranges::any_of(
      namesakes, [&](const auto& other) { return other->meta.key.ns != set.meta.key.ns; });
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
  bool lost = false;
  for (const api::Pod& pod : world.pods) {
    if (pod.node.empty()) continue;
    const auto node = nodes_.find({"", pod.node});
    if (node) world.runtime_nodes[pod.node] = *node;
    lost |= !node || !node->ready;
  }
  if (!lost) return;
  const auto all = nodes_.list();
  world.any_node_ready = std::ranges::any_of(all, [](const auto& node) { return node->ready; });
}

Result<std::optional<SecretContents>> WorldObserver::read_secret(const ObjectKey& key,
                                                                 const api::Meta& meta,
                                                                 const kube::Call& call) {
  if (auto known = cache_.secret(key, version_of(meta))) return known;
  auto found = cluster_.get(kinds::kSecrets, key, call);
  if (found.is(Code::kNotFound)) return std::optional<SecretContents>{};
  if (!found) return std::move(found).error();
  TRY(SecretContents text, decode_secret(*found));
  cache_.put_secret(key, text);
  return std::optional(std::move(text));
}

Result<> WorldObserver::observe_secrets(const api::SampleSet& set, World& world,
                                        const kube::Call& call) {
  const auto& ns = set.meta.key.ns;
  const ObjectKey token{ns, engine::runtime_name(set)};
  const ObjectKey copy{ns, engine::volume_secret_name(set)};
  if (const auto seen = secrets_.find(token)) {
    world.token = seen->meta;
    if (engine::belongs_to(seen->meta, set)) {
      TRY(const auto text, read_secret(token, seen->meta, call));
      if (!text) world.token.reset();
    }
  }
  if (const auto seen = secrets_.find(copy)) world.credentials = seen->meta;
  if (set.meta.deleting()) return Done{};
  if (const auto* ref = credentials_of(set)) {
    world.secret = SecretSummary{};
    const ObjectKey key{ns, ref->name};
    const bool elsewhere = !ref->ns.empty() && ref->ns != ns;
    if (const auto seen = secrets_.find(key); seen && !elsewhere) {
      TRY(const auto text, read_secret(key, seen->meta, call));
      if (text) world.secret = SecretSummary{true, text->version, text->values};
    }
    // Gone: what was copied is what there is.
    if (!world.secret->exists && world.credentials && engine::belongs_to(*world.credentials, set)) {
      TRY(const auto text, read_secret(copy, *world.credentials, call));
      if (text) world.secret->values = text->values;
    }
  }
  if (world.credentials && engine::belongs_to(*world.credentials, set)) {
    world.secret_versions = version_of(*world.credentials);
  }
  if (set.spec.source && set.spec.source->secret) {
    const auto seen = secrets_.find({ns, set.spec.source->secret->name});
    world.source_secret_missing = !seen && !may_be_missing(*set.spec.source->secret);
    if (seen)
      world.secret_versions += (world.secret_versions.empty() ? "" : ",") + version_of(seen->meta);
  }
  return Done{};
}

// Which kinds an engine needs is seen in what it asks for.
Result<bool> WorldObserver::observe_late_kinds(const api::SampleSet& set, World& world,
                                               const kube::Call& call) {
  const auto begun = [&](auto& store) -> Result<bool> {
    TRY(const auto state, store.ask(call));
    return state != std::remove_reference_t<decltype(store)>::State::kBegins;
  };
  const ObjectKey policy{set.meta.key.ns, engine::runtime_name(set)};
  if (set.meta.deleting()) {  // only what has been watched already
    if (const auto store = policies_.find()) {
      if (const auto seen = store->find(policy)) world.policy = seen->meta;
    }
    return true;
  }
  const EngineSelection selection = select_engine(set, world, options_.config);
  if (selection.manifests.policy) {
    TRY(const bool there, begun(policies_));
    if (!there) return false;
    if (const auto store = policies_.find()) {
      world.supports_policies = true;
      if (const auto seen = store->find(policy)) world.policy = seen->meta;
    }
  }
  if (selection.manifests.csi_driver.empty()) return true;
  TRY(const bool has_drivers, begun(drivers_));
  TRY(const bool has_nodes, begun(csi_nodes_));
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

void WorldObserver::poll(const api::SampleSet& set, World& world, std::stop_token stop) {
  const auto access = runtime_credentials(set);
  if (!access) return;
  const auto pods = running_runtimes(set, world.pods);
  bool refused = false;
  const PolledJobs about{.jobs = set.status.jobs.value_or(api::JobsName{}),
                         .parts = set.status.sync.value_or(api::SharedSync{}).parts};
  world.runtime_reports = poll_runtimes(options_.runtime_at, pods, *access, about, stop, refused);
  const BootTime now = clock_.boot();
  for (size_t i = 0; i < pods.size(); ++i) {
    if (world.runtime_reports[i].status) {
      cache_.mark_reachable(set.meta.key, pods[i].uid, now);
    } else {
      world.runtime_reports[i].unreachable_for =
          cache_.unreachable_for(set.meta.key, pods[i].uid, now);
    }
  }
  // Read it again next time.
  if (refused) cache_.forget_secret({set.meta.key.ns, engine::runtime_name(set)});
}

std::optional<runtime::RuntimeCredentials> WorldObserver::runtime_credentials(
    const api::SampleSet& set) const {
  const ObjectKey key{set.meta.key.ns, engine::runtime_name(set)};
  const auto seen = secrets_.find(key);
  if (!seen || !engine::belongs_to(seen->meta, set)) return std::nullopt;
  auto text = cache_.latest(key, seen->meta.uid);
  if (!text) return std::nullopt;
  const auto* builder = find_engine(options_.config.engines, set.status.engine);
  return runtime::access_from(text->values, key.ns, set.meta.key.name,
                              builder && builder->serves_tls());
}

std::vector<api::SampleSet> WorldObserver::orphans(const ObjectKey& key,
                                                   const std::string& living) const {
  std::vector<api::SampleSet> found;
  for (const auto& volume : volumes_.list(kBySet, to_string(key))) {
    found.push_back(orphan_of(*volume, clock_.wall()));
  }
  std::erase_if(found, [&](const auto& orphan) { return orphan.meta.uid == living; });
  if (!found.empty() || !living.empty()) return found;
  api::SampleSet orphan{.meta = {.key = key, .deleted = clock_.wall()}};
  for (const auto& node : nodes_.list(kByLabel, engine::node_label(orphan))) {
    orphan.status.engine = engine::engine_of(node->meta.labels, orphan);
    return {orphan};
  }
  return {};
}

void WorldObserver::forget(const ObjectKey& set) {
  const api::SampleSet gone{.meta = {.key = set}};
  cache_.forget_runtimes(set);
  cache_.forget_secret({set.ns, engine::runtime_name(gone)});
  cache_.forget_secret({set.ns, engine::volume_secret_name(gone)});
}

void WorldObserver::acknowledge(OwnedKind kind, const api::Json& stored) {
  switch (kind) {
    case OwnedKind::kToken:
    case OwnedKind::kCredentials: {
      secrets_.acknowledge(stored);
      const auto meta = api::decode_meta(stored);
      auto text = decode_secret(stored);
      if (meta && text) cache_.put_secret(meta->key, *std::move(text));
      return;
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

}  // namespace paddle::controllers::sample_set
