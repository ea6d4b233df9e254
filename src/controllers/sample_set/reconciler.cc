// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/reconciler.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/paddle_job.h"
#include "base/base64.h"
#include "base/match.h"
#include "base/random.h"
#include "base/sync.h"
#include "controllers/loop/sources.h"
#include "controllers/sample_set/children.h"
#include "controllers/sample_set/deletion.h"
#include "controllers/sample_set/engine_choice.h"
#include "controllers/sample_set/progress.h"
#include "controllers/sample_set/seen.h"
#include "engine/names.h"
#include "kube/informer/store.h"

namespace paddle::controllers {
namespace {

using namespace sample_sets;
using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kBySet = "sample-set";
constexpr const char* kByName = "name";
constexpr const char* kByLabel = "cache-label";
constexpr const char* kDefinition = "samplesets.batch.paddlepaddle.org";
constexpr std::chrono::milliseconds kLook{10'000};

const kube::Resource& resource_of(ChildKind kind) {
  switch (kind) {
    case ChildKind::kToken:
      return kinds::kSecrets;
    case ChildKind::kVolume:
      return kinds::kPersistentVolumes;
    case ChildKind::kClaim:
      return kinds::kClaims;
    case ChildKind::kService:
      return kinds::kServices;
    case ChildKind::kRuntimes:
      break;
  }
  return kinds::kStatefulSets;
}

std::string set_key(const ObjectKey& key) { return key.ns + "/" + key.name; }

// The set that a runtime's pod was made for, by its label.
std::vector<ObjectKey> set_of_pod(const api::Pod& pod) {
  const auto label = pod.meta.labels.find(engine::kSetLabel);
  if (label == pod.meta.labels.end()) return {};
  return {{pod.meta.key.ns, label->second}};
}

// The set that a volume was made for; nothing when that is another operator's affair.
std::vector<ObjectKey> set_of_volume(const VolumeSeen& volume, const std::string& this_ns) {
  const auto ghost = ghost_of(volume, {});
  const ObjectKey& key = ghost.meta.key;
  if (key.name.empty() || key.ns.empty() || ghost.meta.uid.empty()) return {};
  if (!this_ns.empty() && key.ns != this_ns) return {};
  return {key};
}

// The sets of a namespace whose labels are on a node: its value says the name of a runtime's pod,
// and the hash in the label whether that is one of this namespace.
std::vector<ObjectKey> sets_on_node(const api::Meta& node, const std::string& this_ns) {
  std::vector<ObjectKey> keys;
  if (this_ns.empty()) return keys;
  for (const auto& [label, pod] : node.labels) {
    const ObjectKey key{this_ns, pod.substr(0, pod.rfind("-runtime-"))};
    if (label == engine::node_label({.meta = {.key = key}})) keys.push_back(key);
  }
  return keys;
}

class SampleSetReconciler {
 public:
  SampleSetReconciler(const Surroundings& around, SampleSetOptions options, const Clock& clock)
      : cluster_(around.cluster),
        events_(around.events),
        options_(std::move(options)),
        clock_(clock),
        sets_(around.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = options_.ns},
                                                  {"sample-set", api::decode_sample_set})),
        volumes_(around.informers.of<VolumeSeen>(kinds::kPersistentVolumes,
                                                 {.label_selector = engine::kSetLabel},
                                                 {"volume", decode_volume})),
        claims_(
            around.informers.of<VolumeSeen>(kinds::kClaims, labelled(), {"volume", decode_volume})),
        services_(
            around.informers.of<MetaSeen>(kinds::kServices, labelled(), {"meta", decode_any})),
        runtimes_(around.informers.of<StatefulSetSeen>(kinds::kStatefulSets, labelled(),
                                                       {"runtimes", decode_stateful_set})),
        pods_(around.informers.of<api::Pod>(kinds::kPods, labelled(), {"pod", api::decode_pod})),
        nodes_(around.informers.of<MetaSeen>(kinds::kNodes, {}, {"meta", decode_any})),
        jobs_(around.informers.of<api::PaddleJob>(kinds::kPaddleJobs, {.ns = options_.ns},
                                                  {"paddle-job", api::decode_paddle_job})) {
    add_indices();
    listen(around.queue);
  }

  Result<Outcome> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.timeout = kLook, .stop = stop};
    const auto seen = sets_.find(key);
    auto left = end_ghosts(key, seen ? seen->meta.uid : "", call);
    if (!left) return std::move(left).error().in("what is left of sampleset " + to_string(key));
    if (!seen) {
      forget(key);
      return left;
    }
    auto outcome = drive(*seen, call);
    if (!outcome) return std::move(outcome).error().in("sampleset " + to_string(key));
    return sooner(*left, *outcome);
  }

 private:
  enum class Carried { kDone, kNameTaken };
  struct Token {
    std::string uid{};  // of the set
    api::Meta meta{};
    std::string text{};
  };

  static Outcome sooner(const Outcome& a, const Outcome& b) {
    if (!a.again_after || !b.again_after) return a.again_after ? a : b;
    return *a.again_after < *b.again_after ? a : b;
  }

  Result<Outcome> drive(api::SampleSet set, const kube::Call& call) {
    TRY(World world, world_of(set, call));
    // A second round when something of ours could not be made because a stranger has its name.
    for (int round = 0; round < 2; ++round) {
      const Plan plan = desired(set, world, options_.setting, clock_.wall());
      bool taken = false;
      for (const Action& action : plan.actions) {
        TRY(const Carried done, carry_out(action, set, world, call));
        taken = done == Carried::kNameTaken;
        if (taken) break;
      }
      if (!taken) return Outcome{.again_after = plan.again_after};
    }
    return Error{Code::kConflict, "names are taken"};
  }

  // What is left of sets that had this key: a volume remembers each, or labels of nodes do.
  Result<Outcome> end_ghosts(const ObjectKey& key, const std::string& living,
                             const kube::Call& call) {
    std::vector<api::SampleSet> ghosts;
    for (const auto& volume : volumes_.list(kBySet, set_key(key))) {
      ghosts.push_back(ghost_of(*volume, clock_.wall()));
    }
    std::erase_if(ghosts, [&](const auto& ghost) { return ghost.meta.uid == living; });
    if (ghosts.empty() && living.empty()) ghosts = ghosts_on_nodes(key);
    if (ghosts.empty()) return Outcome{};
    // Our view may be behind: only the server knows that a set is gone.
    const auto there = cluster_.get(kinds::kSampleSets, key, call);
    if (!there && !there.is(Code::kNotFound)) return there.error();
    std::string uid;
    if (there) {
      TRY(const api::Meta meta, api::decode_meta(*there));
      uid = meta.uid;
    }
    Outcome outcome;
    for (api::SampleSet& ghost : ghosts) {
      if (there && (ghost.meta.uid == uid || ghost.meta.uid.empty())) continue;
      TRY(World world, world_of(ghost, call));
      const Plan plan = ending(ghost, world);
      for (const Action& action : plan.actions) CHECK_DONE(carry_out(action, ghost, world, call));
      outcome = sooner(outcome, {.again_after = plan.again_after});
    }
    return outcome;
  }

  std::vector<api::SampleSet> ghosts_on_nodes(const ObjectKey& key) const {
    api::SampleSet ghost{.meta = {.key = key, .deleted = clock_.wall()}};
    for (const auto& node : nodes_.list(kByLabel, engine::node_label(ghost))) {
      ghost.status.engine = engine::engine_of(node->meta.labels, ghost);
      return {ghost};
    }
    return {};
  }

  kube::Scope labelled() const { return {.ns = options_.ns, .label_selector = engine::kSetLabel}; }

  void add_indices() {
    sets_.add_index(kByName,
                    [](const api::SampleSet& set) { return std::vector{set.meta.key.name}; });
    pods_.add_index(kBySet, [](const api::Pod& pod) {
      std::vector<std::string> keys;
      for (const auto& key : set_of_pod(pod)) keys.push_back(set_key(key));
      return keys;
    });
    nodes_.add_index(kByLabel, [](const MetaSeen& node) {
      std::vector<std::string> labels;
      for (const auto& [label, value] : node.meta.labels) {
        if (label.starts_with("paddlepaddle.org/")) labels.push_back(label);
      }
      return labels;
    });
    jobs_.add_index(kBySet, [](const api::PaddleJob& job) {
      if (!job.spec.sample_set) return std::vector<std::string>{};
      return std::vector{set_key({job.meta.key.ns, job.spec.sample_set->name})};
    });
    volumes_.add_index(kBySet, [this_ns = options_.ns](const VolumeSeen& volume) {
      std::vector<std::string> keys;
      for (const auto& key : set_of_volume(volume, this_ns)) keys.push_back(set_key(key));
      return keys;
    });
  }

  void listen(WorkQueue& queue) {
    for_kind(sets_, queue);
    owns(claims_, kinds::kSampleSets, queue);
    owns(services_, kinds::kSampleSets, queue);
    owns(runtimes_, kinds::kSampleSets, queue);
    watches(pods_, queue, set_of_pod);
    watches(volumes_, queue, [this_ns = options_.ns](const VolumeSeen& volume) {
      return set_of_volume(volume, this_ns);
    });
    watches(nodes_, queue, [sets = sets_, this_ns = options_.ns](const MetaSeen& node) {
      auto keys = sets_on_node(node.meta, this_ns);
      std::erase_if(keys, [&](const ObjectKey& key) { return sets.find(key); });
      return keys;
    });
    // Whoever reads changes what is cached; and a set on its way out waits for its users.
    watches(jobs_, queue, [](const api::PaddleJob& job) {
      std::vector<ObjectKey> keys;
      if (job.spec.sample_set) keys.push_back({job.meta.key.ns, job.spec.sample_set->name});
      return keys;
    });
  }

  // ---- reading ----

  Result<World> world_of(const api::SampleSet& set, const kube::Call& call) {
    World world;
    const auto& ns = set.meta.key.ns;
    if (const auto found = volumes_.find({"", engine::handle_of(set)})) world.volume = *found;
    if (const auto found = claims_.find({ns, engine::claim_name(set)})) world.claim = *found;
    if (const auto found = services_.find({ns, engine::service_name(set)})) {
      world.service = found->meta;
    }
    if (const auto found = runtimes_.find({ns, engine::runtime_name(set)})) {
      world.runtimes = *found;
    }
    for (const auto& pod : pods_.list(kBySet, set_key(set.meta.key))) world.pods.push_back(*pod);
    for (const auto& job : jobs_.list(kBySet, set_key(set.meta.key))) {
      const auto& phase = job->status.phase;
      if (phase == "Completed" || phase == "Failed") continue;
      world.users.push_back({job->meta.key.name, job->meta.uid});
    }
    std::ranges::sort(world.users, {}, &User::uid);
    const auto namesakes = sets_.list(kByName, set.meta.key.name);
    world.has_namesake =
        std::ranges::any_of(namesakes, [&](const auto& other) { return other->meta.key.ns != ns; });
    read_nodes(set, world);
    CHECK_DONE(read_secrets(set, world, call));
    if (world.token && !set.meta.deleting()) ask_runtimes(set, world, call.stop);
    return world;
  }

  void read_nodes(const api::SampleSet& set, World& world) const {
    std::vector<std::string> labels{engine::node_label(set)};
    if (!set.status.engine.empty()) {
      labels.push_back(engine::cache_label(set, set.status.engine));
    }
    for (const auto& label : labels) {
      for (const auto& node : nodes_.list(kByLabel, label)) {
        world.nodes[node->meta.key.name][label] = node->meta.labels.at(label);
      }
    }
  }

  Result<> read_secrets(const api::SampleSet& set, World& world, const kube::Call& call) {
    // Once the engine is settled and the source listed, the credentials are the runtimes' affair.
    if (const auto* ref = credentials_of(set); ref && !set.meta.deleting()) {
      world.secret = SecretSeen{.exists = true};
      const bool elsewhere = !ref->ns.empty() && ref->ns != set.meta.key.ns;
      if (!elsewhere && !(synced(set.status) && !set.status.engine.empty())) {
        auto found = cluster_.get(kinds::kSecrets, {set.meta.key.ns, ref->name}, call);
        if (!found && !found.is(Code::kNotFound)) return std::move(found).error();
        world.secret = found ? decode_secret(*found) : SecretSeen{};
      }
    }
    if (const auto known = token_of(set)) {
      world.token = known->meta;
      return Done{};
    }
    const ObjectKey key{set.meta.key.ns, engine::runtime_name(set)};
    auto found = cluster_.get(kinds::kSecrets, key, call);
    if (found.is(Code::kNotFound)) return Done{};
    if (!found) return std::move(found).error();
    TRY(world.token, api::decode_meta(*found));
    if (engine::belongs_to(*world.token, set)) remember(set, *world.token, token_in(*found));
    return Done{};
  }

  void ask_runtimes(const api::SampleSet& set, World& world, std::stop_token stop) {
    const auto token = token_of(set);
    if (!token) return;
    bool refused = false;
    world.answers = ask(options_.runtime_at, running(set, world.pods), token->text,
                        set.status.jobs.value_or(api::JobsName{}), stop, refused);
    if (refused) forget(set.meta.key);  // read it again next time
  }

  // ---- acting ----

  Result<Carried> carry_out(const Action& action, api::SampleSet& set, World& world,
                            const kube::Call& call) {
    const auto done = [](Result<> result) -> Result<Carried> {
      if (!result) return std::move(result).error();
      return Carried::kDone;
    };
    return std::visit(
        Match{
            [&](const DropFinalizer&) { return done(drop_finalizer(set, call)); },
            [&](const CreateChild& a) { return create(a, set, world, call); },
            [&](const DeleteChild& a) { return done(remove(a, set, call)); },
            [&](const SetOwners& a) { return done(set_owners(a, set, call)); },
            [&](const PatchRuntimes& a) { return done(patch_runtimes(a, set, call)); },
            [&](const ReplaceRuntime& a) { return done(replace(a, call)); },
            [&](const PutJob& a) { return done(put_job(a, set, world, call)); },
            [&](const LabelNode& a) { return done(label(a, call)); },
            [&](const sample_sets::SetStatus& a) { return done(set_status(a, set, call)); },
            [&](const Tell& a) { return done(tell(set, a)); },
        },
        action);
  }

  Result<> tell(const api::SampleSet& set, const Tell& a) {
    events_.event({.api_version = api::SampleSet::kApiVersion,
                   .kind = api::SampleSet::kKind,
                   .key = set.meta.key,
                   .uid = set.meta.uid},
                  a.warning ? kube::EventKind::kWarning : kube::EventKind::kNormal, a.reason,
                  a.message);
    return Done{};
  }

  Result<> drop_finalizer(api::SampleSet& set, const kube::Call& call) {
    auto left = set.meta.finalizers;
    std::erase(left, engine::finalizer_of(set));
    const kube::Patch patch{
        .body = {
            {"metadata", {{"resourceVersion", set.meta.resource_version}, {"finalizers", left}}}}};
    auto stored = cluster_.patch(kinds::kSampleSets, set.meta.key, patch, {}, call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("drop the finalizer");
    if (set.meta.deleting()) return Done{};  // perhaps that was its end
    sets_.acknowledge(*stored);
    TRY(set, api::decode_sample_set(*stored));
    return Done{};
  }

  // Of a volume, that is, which no SampleSet can own: gone with it is gone for good.
  Result<> give_owner(Json& volume, const kube::Call& call) {
    auto definition = cluster_.get(kinds::kCrds, {"", kDefinition}, call);
    if (definition.is(Code::kNotFound) || definition.is(Code::kForbidden)) return Done{};
    if (!definition) return std::move(definition).error().in("read the definition of SampleSets");
    volume["metadata"]["ownerReferences"] =
        Json::array({Json{{"apiVersion", kinds::kCrds.api_version()},
                          {"kind", kinds::kCrds.kind},
                          {"name", kDefinition},
                          {"uid", (*definition)["metadata"]["uid"]}}});
    return Done{};
  }

  Result<Carried> create(const CreateChild& a, const api::SampleSet& set, World& world,
                         const kube::Call& call) {
    Json object = *a.object;
    std::string token;
    if (a.kind == ChildKind::kToken) {
      token = secret_hex(48);
      object["data"][engine::kTokenKey] = base64_encode(token);
    }
    if (a.kind == ChildKind::kVolume) CHECK_DONE(give_owner(object, call));
    auto stored = cluster_.create(resource_of(a.kind), object, call);
    if (stored.is(Code::kAlreadyExists)) {
      TRY(const api::Meta meta, api::decode_meta(object));
      stored = cluster_.get(resource_of(a.kind), meta.key, call);
      if (stored) token = a.kind == ChildKind::kToken ? token_in(*stored) : "";
    }
    if (!stored) {
      CHECK_DONE(tell(set, {true, "ErrorCreate" + event_name(a.kind), stored.error().message}));
      return std::move(stored).error().in("create " + event_name(a.kind));
    }
    TRY(const api::Meta meta, api::decode_meta(*stored));
    if (!engine::belongs_to(meta, set)) {
      CHECK_DONE(show_stranger(a.kind, *stored, world));
      return Carried::kNameTaken;
    }
    acknowledge(a.kind, *stored);
    if (a.kind == ChildKind::kToken) remember(set, meta, token);
    CHECK_DONE(tell(set, {false, "Create" + event_name(a.kind) + "Successfully",
                          "created " + event_name(a.kind) + " " + meta.key.name}));
    return Carried::kDone;
  }

  void acknowledge(ChildKind kind, const Json& stored) {
    if (kind == ChildKind::kVolume) volumes_.acknowledge(stored);
    if (kind == ChildKind::kClaim) claims_.acknowledge(stored);
    if (kind == ChildKind::kService) services_.acknowledge(stored);
    if (kind == ChildKind::kRuntimes) runtimes_.acknowledge(stored);
  }

  static Result<> show_stranger(ChildKind kind, const Json& object, World& world) {
    TRY(const api::Meta meta, api::decode_meta(object));
    if (kind == ChildKind::kToken) world.token = meta;
    if (kind == ChildKind::kVolume) world.volume = VolumeSeen{.meta = meta};
    if (kind == ChildKind::kClaim) world.claim = VolumeSeen{.meta = meta};
    if (kind == ChildKind::kService) world.service = meta;
    if (kind == ChildKind::kRuntimes) world.runtimes = StatefulSetSeen{.meta = meta};
    return Done{};
  }

  Result<> remove(const DeleteChild& a, const api::SampleSet& set, const kube::Call& call) {
    auto removed = cluster_.remove(resource_of(a.kind), a.key, {.uid = a.uid}, call);
    // Gone, or a namesake took its place: either way this one is not there any more.
    if (removed.is(Code::kNotFound) || removed.is(Code::kConflict)) removed = Done{};
    if (!removed) {
      CHECK_DONE(tell(set, {true, "ErrorDelete" + event_name(a.kind), removed.error().message}));
      return std::move(removed).error().in("delete " + event_name(a.kind) + " " + a.key.name);
    }
    if (a.kind == ChildKind::kToken) forget(set.meta.key);
    return Done{};
  }

  Result<> set_owners(const SetOwners& a, const api::SampleSet& set, const kube::Call& call) {
    const Json owners = api::encode_meta({.owners = a.owners})["ownerReferences"];
    const kube::Patch patch{.body = {{"metadata", {{"uid", a.uid}, {"ownerReferences", owners}}}}};
    auto stored = cluster_.patch(resource_of(a.kind), a.key, patch, {}, call);
    // Gone, or a namesake took its place: the next pass sees.
    const bool gone = stored.is(Code::kNotFound) || stored.is(Code::kConflict);
    if (gone && a.kind == ChildKind::kToken) forget(set.meta.key);
    if (gone) return Done{};
    if (!stored) return std::move(stored).error().in("keep " + event_name(a.kind) + " for users");
    acknowledge(a.kind, *stored);
    if (a.kind == ChildKind::kToken) {
      TRY(const api::Meta meta, api::decode_meta(*stored));
      remember(set, meta, token_in(*stored));
    }
    return Done{};
  }

  Result<> patch_runtimes(const PatchRuntimes& a, const api::SampleSet& set,
                          const kube::Call& call) {
    const ObjectKey key{set.meta.key.ns, engine::runtime_name(set)};
    auto stored = cluster_.patch(kinds::kStatefulSets, key, {.body = *a.patch}, {}, call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("change the runtimes");
    runtimes_.acknowledge(*stored);
    return Done{};
  }

  Result<> replace(const ReplaceRuntime& a, const kube::Call& call) {
    auto removed = cluster_.remove(kinds::kPods, a.key, {.uid = a.uid}, call);
    if (removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
    return removed;
  }

  Result<> put_job(const PutJob& a, const api::SampleSet& set, const World& world,
                   const kube::Call& call) {
    const auto token = token_of(set);
    const auto pods = running(set, world.pods);
    const auto pod = std::ranges::find(pods, a.partition, &RuntimePod::partition);
    if (!token || pod == pods.end()) return Done{};  // the next pass sees
    auto report =
        options_.runtime_at(pod->address, token->text)->put_job(a.id, a.request, call.stop);
    if (!report) {
      return std::move(report).error().in("give runtime " + std::to_string(a.partition) +
                                          " the job " + a.id);
    }
    if (a.request.kind == runtime::JobKind::kSync && a.partition == 0) {
      return tell(set,
                  {false, "CreateSyncJobSuccessfully", "asked the runtimes to list the source"});
    }
    return Done{};
  }

  Result<> label(const LabelNode& a, const kube::Call& call) {
    const Json value = a.value.empty() ? Json(nullptr) : Json(a.value);
    const kube::Patch patch{.body = {{"metadata", {{"labels", {{a.label, value}}}}}}};
    auto stored = cluster_.patch(kinds::kNodes, {"", a.node}, patch, {}, call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("label node " + a.node);
    nodes_.acknowledge(*stored);
    return Done{};
  }

  Result<> set_status(const sample_sets::SetStatus& a, const api::SampleSet& set,
                      const kube::Call& call) {
    api::SampleSet changed = set;
    changed.status = a.status;
    auto stored = cluster_.update(kinds::kSampleSets, api::encode(changed), "status", call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("write status");
    sets_.acknowledge(*stored);
    return Done{};
  }

  // ---- tokens: read once, kept in memory ----

  std::optional<Token> token_of(const api::SampleSet& set) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    const auto found = tokens_.find(set.meta.key);
    if (found == tokens_.end() || found->second.uid != set.meta.uid) return std::nullopt;
    return found->second;
  }
  void remember(const api::SampleSet& set, const api::Meta& meta, std::string text)
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    tokens_[set.meta.key] = {set.meta.uid, meta, std::move(text)};
  }
  void forget(const ObjectKey& key) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    tokens_.erase(key);
  }

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  const SampleSetOptions options_;
  const Clock& clock_;
  kube::Store<api::SampleSet> sets_;
  kube::Store<VolumeSeen> volumes_;
  kube::Store<VolumeSeen> claims_;
  kube::Store<MetaSeen> services_;
  kube::Store<StatefulSetSeen> runtimes_;
  kube::Store<api::Pod> pods_;
  kube::Store<MetaSeen> nodes_;
  kube::Store<api::PaddleJob> jobs_;

  Mutex mutex_;
  std::map<ObjectKey, Token> tokens_ GUARDED_BY(mutex_);
};

}  // namespace

Reconcile make_sample_set_reconciler(const Surroundings& around, const SampleSetOptions& options,
                                     const Clock& clock) {
  auto reconciler = std::make_shared<SampleSetReconciler>(around, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers
