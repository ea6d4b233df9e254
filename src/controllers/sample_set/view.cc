// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/view.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "controllers/loop/sources.h"
#include "controllers/sample_set/blockers.h"
#include "controllers/sample_set/children.h"
#include "controllers/sample_set/deletion.h"
#include "controllers/sample_set/engine_choice.h"
#include "controllers/sample_set/keys.h"
#include "engine/names.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_sets {

using kube::ObjectKey;
namespace kinds = kube::resources;

const kube::Resource& resource_of(ChildKind kind) {
  switch (kind) {
    case ChildKind::kToken:
    case ChildKind::kCredentials:
      return kinds::kSecrets;
    case ChildKind::kVolume:
      return kinds::kPersistentVolumes;
    case ChildKind::kClaim:
      return kinds::kClaims;
    case ChildKind::kService:
      return kinds::kServices;
    case ChildKind::kPolicy:
      return kinds::kNetworkPolicies;
    case ChildKind::kPreparation:
      return kinds::kPods;
    case ChildKind::kRuntimes:
      break;
  }
  return kinds::kStatefulSets;
}

View::View(const ControllerContext& around, const SampleSetOptions& options, const Clock& clock)
    : cluster_(around.cluster),
      options_(options),
      clock_(clock),
      sets_(around.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = options_.ns},
                                                {"sample-set", api::decode_sample_set})),
      secrets_(around.informers.of<MetaSeen>(kinds::kSecrets,
                                             {.ns = options_.ns, .metadata_only = true},
                                             {"secret", decode_secret_meta})),
      volumes_(around.informers.of<VolumeSeen>(kinds::kPersistentVolumes,
                                               {.label_selector = engine::kSetLabel},
                                               {"volume", decode_volume})),
      claims_(
          around.informers.of<VolumeSeen>(kinds::kClaims, labelled(), {"volume", decode_volume})),
      services_(around.informers.of<MetaSeen>(kinds::kServices, labelled(), {"meta", decode_any})),
      runtimes_(around.informers.of<StatefulSetSeen>(kinds::kStatefulSets, labelled(),
                                                     {"runtimes", decode_stateful_set})),
      pods_(around.informers.of<api::Pod>(kinds::kPods, labelled(), {"pod", api::decode_pod})),
      nodes_(around.informers.of<NodeSeen>(kinds::kNodes, {}, {"host", decode_host})),
      jobs_(around.informers.of<api::PaddleJob>(kinds::kPaddleJobs, {.ns = options_.ns},
                                                {"paddle-job", api::decode_paddle_job})),
      policies_(around.cluster, around.informers, kinds::kNetworkPolicies, labelled(),
                {"meta", decode_any},
                [&queue = around.queue](const kube::Store<MetaSeen>& store) {
                  owns(store, kinds::kSampleSets, queue);
                }),
      // Every set: whether one waits for the driver is seen when it is looked at.
      drivers_(around.cluster, around.informers, kinds::kCsiDrivers, {}, {"meta", decode_any},
               [&queue = around.queue, sets = sets_](const kube::Store<MetaSeen>& store) {
                 watches(store, queue, [sets](const MetaSeen&) {
                   std::vector<ObjectKey> keys;
                   for (const auto& set : sets.list()) keys.push_back(set->meta.key);
                   return keys;
                 });
               }),
      csi_nodes_(around.cluster, around.informers, kinds::kCsiNodes, {},
                 {"csi-node", decode_csi_node},
                 [&queue = around.queue, pods = pods_](const kube::Store<CsiNodeSeen>& store) {
                   watches(store, queue, [pods](const CsiNodeSeen& node) {
                     return sets_with_pods_on(pods, node.meta.key.name);
                   });
                 }) {
  add_indices();
  listen(around.queue);
}

kube::Scope View::labelled() const {
  return {.ns = options_.ns, .label_selector = engine::kSetLabel};
}

void View::add_indices() {
  sets_.add_index(kByName,
                  [](const api::SampleSet& set) { return std::vector{set.meta.key.name}; });
  sets_.add_index(kBySecret, secrets_named_by);
  pods_.add_index(kBySet, [](const api::Pod& pod) { return texts(set_of_pod(pod)); });
  pods_.add_index(kByNode, [](const api::Pod& pod) {
    return pod.node.empty() ? std::vector<std::string>{} : std::vector{pod.node};
  });
  nodes_.add_index(kByLabel, [](const NodeSeen& node) {
    std::vector<std::string> labels;
    for (const auto& [label, value] : node.meta.labels) labels.push_back(label);
    return labels;
  });
  jobs_.add_index(kBySet, [](const api::PaddleJob& job) { return texts(set_of_job(job)); });
  volumes_.add_index(kBySet, [this_ns = options_.ns](const VolumeSeen& volume) {
    return texts(set_of_volume(volume, this_ns));
  });
}

void View::listen(WorkQueue& queue) {
  for_kind(sets_, queue);
  owns(secrets_, kinds::kSampleSets, queue);
  owns(claims_, kinds::kSampleSets, queue);
  owns(services_, kinds::kSampleSets, queue);
  owns(runtimes_, kinds::kSampleSets, queue);
  watches(secrets_, queue, [sets = sets_](const MetaSeen& secret) {
    std::vector<ObjectKey> keys;
    for (const auto& set : sets.list(kBySecret, to_string(secret.meta.key))) {
      keys.push_back(set->meta.key);
    }
    return keys;
  });
  watches(pods_, queue, set_of_pod);
  watches(volumes_, queue, [this_ns = options_.ns](const VolumeSeen& volume) {
    return set_of_volume(volume, this_ns);
  });
  // Those whose runtimes are there, when it is lost or back; and those that left labels behind.
  nodes_.on_change([&queue, sets = sets_, pods = pods_, this_ns = options_.ns](
                       const ObjectKey& key, const NodeSeen* before, const NodeSeen* after) {
    const bool turned = (before && before->ready) != (after && after->ready);
    if (turned) {
      for (const auto& set : sets_with_pods_on(pods, key.name)) queue.add(set);
    }
    for (const NodeSeen* state : {before, after}) {
      if (!state) continue;
      for (const auto& set : sets_on_node(state->meta, this_ns)) {
        if (!sets.find(set)) queue.add(set);
      }
    }
  });
  // Whoever reads changes what is cached; and a set on its way out waits for its users.
  watches(jobs_, queue, set_of_job);
}

Result<std::optional<World>> View::world_of(const api::SampleSet& set, const kube::Call& call) {
  World world;
  see_children(set, world);
  see_users(set, world);
  see_nodes(set, world);
  CHECK_DONE(see_secrets(set, world, call));
  TRY(const bool begun, see_late_kinds(set, world, call));
  if (!begun) return std::optional<World>{};
  if (world.token && !set.meta.deleting()) ask_runtimes(set, world, call.stop);
  return std::optional(std::move(world));
}

void View::see_children(const api::SampleSet& set, World& world) const {
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

void View::see_users(const api::SampleSet& set, World& world) const {
  for (const auto& job : jobs_.list(kBySet, to_string(set.meta.key))) {
    const auto& phase = job->status.phase;
    if (phase == "Completed" || phase == "Failed") continue;
    world.users.push_back({job->meta.key.name, job->meta.uid});
  }
  std::ranges::sort(world.users, {}, &User::uid);
  const auto named = sets_.find(set.meta.key);
  world.replaced = named && named->meta.uid != set.meta.uid;
  world.forced = is_forced(set.meta) || (world.volume && is_forced(world.volume->meta));
  const auto namesakes = sets_.list(kByName, set.meta.key.name);
  world.has_namesake = std::ranges::any_of(
      namesakes, [&](const auto& other) { return other->meta.key.ns != set.meta.key.ns; });
  if (!set.spec.secret) return;
  const ObjectKey secret{set.meta.key.ns, set.spec.secret->name};
  for (const auto& other : sets_.list(kBySecret, to_string(secret))) {
    if (sync_into_one_place(set, *other)) world.sharers.push_back(other->meta.key.name);
  }
  std::ranges::sort(world.sharers);
}

void View::see_nodes(const api::SampleSet& set, World& world) const {
  std::vector<std::string> labels{engine::node_label(set)};
  if (!set.status.engine.empty()) labels.push_back(engine::cache_label(set, set.status.engine));
  for (const auto& label : labels) {
    for (const auto& node : nodes_.list(kByLabel, label)) {
      world.nodes[node->meta.key.name][label] = node->meta.labels.at(label);
    }
  }
  bool lost = false;
  for (const api::Pod& pod : world.pods) {
    if (pod.node.empty()) continue;
    const auto node = nodes_.find({"", pod.node});
    if (node) world.hosts[pod.node] = *node;
    lost |= !node || !node->ready;
  }
  if (!lost) return;
  const auto all = nodes_.list();
  world.some_node_ready = std::ranges::any_of(all, [](const auto& node) { return node->ready; });
}

Result<std::optional<SecretText>> View::read_secret(const ObjectKey& key, const api::Meta& meta,
                                                    const kube::Call& call) {
  if (auto known = memory_.secret(key, version_of(meta))) return known;
  auto found = cluster_.get(kinds::kSecrets, key, call);
  if (found.is(Code::kNotFound)) return std::optional<SecretText>{};
  if (!found) return std::move(found).error();
  TRY(SecretText text, decode_secret(*found));
  memory_.remember(key, text);
  return std::optional(std::move(text));
}

Result<> View::see_secrets(const api::SampleSet& set, World& world, const kube::Call& call) {
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
    world.secret = SecretSeen{};
    const ObjectKey key{ns, ref->name};
    const bool elsewhere = !ref->ns.empty() && ref->ns != ns;
    if (const auto seen = secrets_.find(key); seen && !elsewhere) {
      TRY(const auto text, read_secret(key, seen->meta, call));
      if (text) world.secret = SecretSeen{true, text->version, text->values};
    }
    // Gone: what was copied is what there is.
    if (!world.secret->exists && world.credentials && engine::belongs_to(*world.credentials, set)) {
      TRY(const auto text, read_secret(copy, *world.credentials, call));
      if (text) world.secret->values = text->values;
    }
  }
  if (world.credentials && engine::belongs_to(*world.credentials, set)) {
    world.keys = version_of(*world.credentials);
  }
  if (set.spec.source && set.spec.source->secret) {
    const auto seen = secrets_.find({ns, set.spec.source->secret->name});
    world.source_secret_missing = !seen && !may_be_missing(*set.spec.source->secret);
    if (seen) world.keys += (world.keys.empty() ? "" : ",") + version_of(seen->meta);
  }
  return Done{};
}

// Which kinds an engine needs is seen in what it asks for.
Result<bool> View::see_late_kinds(const api::SampleSet& set, World& world, const kube::Call& call) {
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
  const Choice choice = choose(set, world, options_.setting);
  if (choice.manifests.policy) {
    TRY(const bool there, begun(policies_));
    if (!there) return false;
    if (const auto store = policies_.find()) {
      world.can_have_policies = true;
      if (const auto seen = store->find(policy)) world.policy = seen->meta;
    }
  }
  if (choice.manifests.csi_driver.empty()) return true;
  TRY(const bool has_drivers, begun(drivers_));
  TRY(const bool has_nodes, begun(csi_nodes_));
  if (!has_drivers || !has_nodes) return false;
  world.drivers = DriversSeen{};
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

void View::ask_runtimes(const api::SampleSet& set, World& world, std::stop_token stop) {
  const auto access = access_to(set);
  if (!access) return;
  const auto pods = running(set, world.pods);
  bool refused = false;
  const Questions about{.jobs = set.status.jobs.value_or(api::JobsName{}),
                        .parts = set.status.sync.value_or(api::SharedSync{}).parts};
  world.answers = ask(options_.runtime_at, pods, *access, about, stop, refused);
  const BootTime now = clock_.boot();
  for (size_t i = 0; i < pods.size(); ++i) {
    if (world.answers[i].status) {
      memory_.heard(set.meta.key, pods[i].uid, now);
    } else {
      world.answers[i].silent_for = memory_.silent_for(set.meta.key, pods[i].uid, now);
    }
  }
  // Read it again next time.
  if (refused) memory_.forget_secret({set.meta.key.ns, engine::runtime_name(set)});
}

std::optional<runtime::RuntimeCredentials> View::access_to(const api::SampleSet& set) const {
  const ObjectKey key{set.meta.key.ns, engine::runtime_name(set)};
  const auto seen = secrets_.find(key);
  if (!seen || !engine::belongs_to(seen->meta, set)) return std::nullopt;
  auto text = memory_.latest(key, seen->meta.uid);
  if (!text) return std::nullopt;
  const auto* face = find_engine(options_.setting.engines, set.status.engine);
  return runtime::credentials_from(text->values, key.ns, set.meta.key.name,
                                   face && face->serves_tls());
}

std::vector<api::SampleSet> View::ghosts(const ObjectKey& key, const std::string& living) const {
  std::vector<api::SampleSet> found;
  for (const auto& volume : volumes_.list(kBySet, to_string(key))) {
    found.push_back(ghost_of(*volume, clock_.wall()));
  }
  std::erase_if(found, [&](const auto& ghost) { return ghost.meta.uid == living; });
  if (!found.empty() || !living.empty()) return found;
  api::SampleSet ghost{.meta = {.key = key, .deleted = clock_.wall()}};
  for (const auto& node : nodes_.list(kByLabel, engine::node_label(ghost))) {
    ghost.status.engine = engine::engine_of(node->meta.labels, ghost);
    return {ghost};
  }
  return {};
}

void View::forget(const ObjectKey& set) {
  const api::SampleSet gone{.meta = {.key = set}};
  memory_.forget_runtimes(set);
  memory_.forget_secret({set.ns, engine::runtime_name(gone)});
  memory_.forget_secret({set.ns, engine::volume_secret_name(gone)});
}

void View::acknowledge(ChildKind kind, const api::Json& stored) {
  switch (kind) {
    case ChildKind::kToken:
    case ChildKind::kCredentials: {
      secrets_.acknowledge(stored);
      const auto meta = api::decode_meta(stored);
      auto text = decode_secret(stored);
      if (meta && text) memory_.remember(meta->key, *std::move(text));
      return;
    }
    case ChildKind::kVolume:
      return volumes_.acknowledge(stored);
    case ChildKind::kClaim:
      return claims_.acknowledge(stored);
    case ChildKind::kService:
      return services_.acknowledge(stored);
    case ChildKind::kPolicy:
      if (const auto store = policies_.find()) store->acknowledge(stored);
      return;
    case ChildKind::kPreparation:
      return pods_.acknowledge(stored);
    case ChildKind::kRuntimes:
      return runtimes_.acknowledge(stored);
  }
}

}  // namespace paddle::controllers::sample_sets
