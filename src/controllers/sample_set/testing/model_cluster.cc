// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/testing/model_cluster.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/match.h"
#include "base/sync.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "engine/names.h"
#include "engine/samplefs/manifests.h"
#include "engine/samplefs/volumes.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;
using runtime::JobState;

Json object_of(const api::SampleSet& set, const char* kind, const std::string& name,
               const char* version = "v1") {
  return {{"apiVersion", version},
          {"kind", kind},
          {"metadata", engine::metadata(set, "juicefs", set.meta.key.ns, name)}};
}

}  // namespace

Result<engine::Manifests> SharingBuilder::manifests(const api::SampleSet& set,
                                                    const engine::Credentials& credentials,
                                                    const engine::RuntimeOptions& options) const {
  if (!credentials.contains("metaurl")) return Error{Code::kInvalid, "no metaurl"};
  Json volume = {{"apiVersion", "v1"},
                 {"kind", "PersistentVolume"},
                 {"metadata", engine::metadata(set, name(), {}, engine::handle_of(set))}};
  volume["spec"]["claimRef"] = {{"namespace", set.meta.key.ns}, {"name", set.meta.key.name}};
  Json runtimes = object_of(set, "StatefulSet", engine::runtime_name(set), "apps/v1");
  Json pod = Json::object();
  if (set.spec.source) pod["source"] = set.spec.source->uri;
  if (set.spec.tolerations) pod["tolerations"] = *set.spec.tolerations;
  runtimes["spec"] = {
      {"replicas", set.spec.effective_partitions()},
      {"template",
       {{"metadata", {{"labels", {{engine::kSetLabel, set.meta.key.name}}}}}, {"spec", pod}}}};
  Json copy = object_of(set, "Secret", engine::volume_secret_name(set));
  for (const auto& [key, value] : credentials) copy["data"][key] = base64_encode(value);
  Json again = object_of(set, "Pod", engine::preparation_name(set));
  again["spec"]["again"] = true;
  return engine::Manifests{
      .volume = volume,
      .claim = object_of(set, "PersistentVolumeClaim", engine::claim_name(set)),
      .service = engine::runtime_service(set, name()),
      .runtimes = runtimes,
      .credentials = copy,
      .preparation = object_of(set, "Pod", engine::preparation_name(set)),
      .preparation_again = again,
      .policy = engine::runtime_policy(set, name(), options),
      .csi_driver = kDriver,
      .without_driver = "kubectl apply -f deploy/csi/juicefs.yaml"};
}

namespace {

// Most passes are about the set of the one before: its objects are the same then.
class CachingBuilder final : public engine::ManifestBuilder {
 public:
  explicit CachingBuilder(std::shared_ptr<const engine::ManifestBuilder> builder)
      : builder_(std::move(builder)) {}
  std::string name() const override { return builder_->name(); }
  bool shares_volume() const override { return builder_->shares_volume(); }
  bool serves_tls() const override { return builder_->serves_tls(); }
  Result<engine::Manifests> manifests(const api::SampleSet& set,
                                      const engine::Credentials& credentials,
                                      const engine::RuntimeOptions& options) const override {
    Lock lock(mutex_);
    if (set.meta != set_.meta || set.spec != set_.spec || credentials != credentials_) {
      known_ = builder_->manifests(set, credentials, options);
      set_ = {.meta = set.meta, .spec = set.spec};
      credentials_ = credentials;
    }
    return known_;
  }

 private:
  const std::shared_ptr<const engine::ManifestBuilder> builder_;
  mutable Mutex mutex_;
  mutable api::SampleSet set_ GUARDED_BY(mutex_){};
  mutable engine::Credentials credentials_ GUARDED_BY(mutex_){};
  mutable Result<engine::Manifests> known_ GUARDED_BY(mutex_) = engine::Manifests{};
};

}  // namespace

Config model_config() {
  return {.engines = {std::make_shared<CachingBuilder>(
                          std::make_shared<engine::samplefs::SamplefsManifestBuilder>()),
                      std::make_shared<CachingBuilder>(std::make_shared<SharingBuilder>())},
          .runtime = {.image = "paddle:1"},
          .drivers_of_nodes = {engine::samplefs::kDriver}};
}

api::SampleSet model_set(int partitions, bool leading) {
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "0123456789", .generation = 1}};
  set.spec.partitions = partitions;
  set.spec.source = api::SampleSource{.uri = "s3://bucket/images"};
  if (leading) set.spec.secret = api::SecretReference{.name = "keys"};
  return set;
}

std::string reason_of(const Plan& plan) {
  const auto written = only<SetStatus>(plan);
  if (written.empty()) return "(no status)";
  const auto* ready = api::find_condition(written.back().status.conditions, "Ready");
  return ready ? ready->reason : "(no condition)";
}

Model::Model(api::SampleSet start, int nodes) : set(std::move(start)) {
  for (int i = 0; i < nodes; ++i) nodes_["node-" + std::to_string(i)] = NodeSummary{};
  world.supports_policies = true;
  world.drivers = CsiDriverSummary{.installed = {SharingBuilder::kDriver}};
  if (set.spec.secret) put_secret("s/1", {{"metaurl", "redis://x"}, {"secret-key", "k"}});
}

Plan Model::pass() {
  Plan plan = gone ? plan_deletion(set, world) : desired(set, world, config_, now);
  for (const Action& action : plan.actions) play(action);
  if (others_work) follow();
  return plan;
}

Plan Model::settle(int passes) {
  Plan plan;
  for (int i = 0; i < passes; ++i) plan = pass();
  return plan;
}

void Model::pass_and_die(size_t actions) {
  const Plan plan = gone ? plan_deletion(set, world) : desired(set, world, config_, now);
  for (size_t i = 0; i < std::min(actions, plan.actions.size()); ++i) play(plan.actions[i]);
  if (others_work) follow();
}

void Model::put_secret(const std::string& version, const engine::Credentials& values) {
  world.secret = SecretSummary{.exists = true, .version = version, .values = values};
}

void Model::repartition(int partitions) {
  set.spec.partitions = partitions;
  ++set.meta.generation;
  ended_.clear();  // it is to run again
}

void Model::silence(int partition, std::chrono::seconds for_how_long) {
  if (const api::Pod* pod = pod_of(partition)) lives_[pod->meta.uid].silent = for_how_long;
  look();
}

void Model::lose_node(const std::string& name) {
  nodes_[name].ready = false;
  nodes_[name].unready_since = now;
  for (const api::Pod& pod : world.pods) {
    if (pod.node == name) lives_[pod.meta.uid].silent = std::chrono::seconds(60);
  }
  look();
}

void Model::heal_node(const std::string& name) {
  nodes_[name] = NodeSummary{};
  for (const api::Pod& pod : world.pods) {
    if (pod.node == name) lives_[pod.meta.uid].silent = {};
  }
  look();
}

void Model::lose_journal(int partition) {
  api::Pod* pod = pod_of(partition);
  if (!pod) return;
  pod->meta.uid = "uid-" + std::to_string(++born_);
  look();
}

void Model::clear_cache(int partition) {
  const api::Pod* pod = pod_of(partition);
  if (!pod) return;
  cached_[pod->node] = 0;
  lives_[pod->meta.uid].cleared = true;
  look();
}

void Model::lose_cache(const std::string& node) {
  cached_[node] = 0;
  ++client_[node];
  look();
}

std::string Model::node_of(int partition) const {
  const api::Pod* pod = pod_of(partition);
  return pod ? pod->node : "";
}

int Model::puts_of(const std::string& id) const {
  const auto found = puts_.find(id);
  return found == puts_.end() ? 0 : found->second;
}

const api::Condition& Model::condition(const char* type) const {
  static const api::Condition none{};
  const auto* found = api::find_condition(set.status.conditions, type);
  return found ? *found : none;
}

const api::Pod* Model::pod_of(int partition) const {
  const std::string name = engine::runtime_pod_name(set, partition);
  const auto found =
      std::ranges::find_if(world.pods, [&](const auto& pod) { return pod.meta.key.name == name; });
  return found == world.pods.end() ? nullptr : &*found;
}
api::Pod* Model::pod_of(int partition) {
  return const_cast<api::Pod*>(std::as_const(*this).pod_of(partition));
}

api::Meta Model::meta_of(const api::Opaque& object) {
  auto meta = *api::decode_meta(*object);
  meta.uid = "uid-" + std::to_string(++born_);
  meta.created = now;
  made_.insert(meta.uid);
  return meta;
}

void Model::check_ours(const std::string& uid, const char* what) {
  if (!made_.contains(uid) && broken.empty()) broken = std::string(what) + " of a stranger";
}

api::Meta* Model::child(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kToken:
      return world.token ? &*world.token : nullptr;
    case OwnedKind::kCredentials:
      return world.credentials ? &*world.credentials : nullptr;
    case OwnedKind::kVolume:
      return world.volume ? &world.volume->meta : nullptr;
    case OwnedKind::kClaim:
      return world.claim ? &world.claim->meta : nullptr;
    case OwnedKind::kService:
      return world.service ? &*world.service : nullptr;
    case OwnedKind::kPolicy:
      return world.policy ? &*world.policy : nullptr;
    case OwnedKind::kPreparation:
      return world.preparation ? &world.preparation->meta : nullptr;
    case OwnedKind::kRuntimes:
      return world.runtimes ? &world.runtimes->meta : nullptr;
  }
  return nullptr;
}

void Model::play(const Action& action) {
  std::visit(Match{
                 [&](const RemoveFinalizer&) { set.meta.finalizers.clear(); },
                 [&](const CreateObject& a) { create(a); },
                 [&](const DeleteObject& a) {
                   check_ours(a.uid, "deletion");
                   const api::Meta* meta = child(a.kind);
                   if (meta && meta->uid == a.uid) remove(a.kind);
                 },
                 [&](const SetOwners& a) {
                   check_ours(a.uid, "change of owners");
                   if (api::Meta* meta = child(a.kind)) meta->owners = a.owners;
                 },
                 [&](const UpdateCredentials& a) {
                   check_ours(a.uid, "change of credentials");
                   for (const auto& [name, value] : a.annotations) {
                     world.credentials->annotations[name] = value;
                   }
                 },
                 [&](const Annotate& a) {
                   check_ours(a.uid, "annotation");
                   api::Meta* meta = child(a.kind);
                   for (const auto& [name, value] : a.annotations) {
                     meta->annotations[name] = value;
                     if (value.empty()) meta->annotations.erase(name);
                   }
                 },
                 [&](const ClearClaimUid& a) {
                   check_ours(a.uid, "release");
                   if (world.claim && world.claim->bound && broken.empty()) {
                     broken = "a volume was taken from a claim that is bound";
                   }
                   if (world.volume && world.volume->meta.uid == a.uid) {
                     world.volume->claim_uid.clear();
                   }
                 },
                 [&](const RenewToken& a) {
                   check_ours(a.uid, "renewal");
                   world.token->annotations[kRenewAfter] = rfc3339(now + std::chrono::hours(24));
                 },
                 [&](const PatchObject& a) {
                   check_ours(a.uid, "change of a child");
                   api::Meta* meta = child(a.kind);
                   for (const Json& change : *a.operations) {
                     const std::string path = change["path"];
                     if (path == "/spec/replicas") world.runtimes->replicas = change["value"];
                     for (const char* mark : {kTemplateAnnotation, kSpecHash}) {
                       std::string escaped = mark;
                       escaped.replace(escaped.find('/'), 1, "~1");
                       if (path.ends_with(escaped)) meta->annotations[mark] = change["value"];
                     }
                   }
                 },
                 [&](const ReplaceRuntime& a) {
                   std::erase_if(world.pods,
                                 [&](const auto& pod) { return pod.meta.uid == a.uid; });
                 },
                 [&](const AnnotatePodSecrets& a) {
                   for (api::Pod& pod : world.pods) {
                     if (pod.meta.uid == a.uid) pod.meta.annotations[kSecretVersions] = a.value;
                   }
                 },
                 [&](const PutJob& a) { put(a); },
                 [&](const CancelJob& a) {
                   const api::Pod* pod = pod_of(a.partition);
                   if (!pod) return;
                   auto& jobs = lives_[pod->meta.uid].jobs;
                   const auto job = jobs.find(a.id);
                   if (job == jobs.end() || runtime::ended(job->second.state)) return;
                   job->second.state = JobState::kCancelled;
                 },
                 [&](const LabelNode& a) {
                   world.node_labels[a.node][a.label] = a.value;
                   if (a.value.empty()) world.node_labels[a.node].erase(a.label);
                   if (world.node_labels[a.node].empty()) world.node_labels.erase(a.node);
                 },
                 [&](const SetStatus& a) {
                   set.status = a.status;
                   if (a.status.jobs) stored_.insert({a.status.jobs->sync, a.status.jobs->warmup});
                   for (const auto& part : a.status.sync.value_or(api::SharedSync{}).parts) {
                     stored_.insert(part.id);
                   }
                   note_ended();
                 },
                 [&](const Tell&) {},
             },
             action);
}

void Model::put(const PutJob& a) {
  if (!stored_.contains(a.id) && broken.empty()) broken = a.id + " was not stored before its use";
  const api::Pod* pod = pod_of(a.partition);
  if (!pod) return;
  const bool warm = a.request.kind == runtime::JobKind::kWarmup;
  const auto what = std::tuple(warm_up_round(a.id), a.partition, pod->node);
  const bool lost = cached_[pod->node] == 0;
  if (warm && broken.empty() && ended_.contains(what) && !lost) {
    broken = a.id + " was repeated on " + pod->node + ", where it had ended";
  }
  if (warm && broken.empty() && cleared_.contains(what)) {
    broken = a.id + " undid a clear on " + pod->node;
  }
  ++puts_[a.id];
  if (warm) lives_[pod->meta.uid].cleared = false;
  runtime::JobReport report{.id = a.id, .kind = a.request.kind, .state = JobState::kRunning};
  if (a.request.sync.parts > 1) put_part(a, report);
  lives_[pod->meta.uid].jobs.try_emplace(a.id, report);
}

// The first part's runtime divides when it has not done so in this life; the others are told.
void Model::put_part(const PutJob& a, runtime::JobReport& report) {
  const auto& task = a.request.sync;
  const std::string division = task.division.empty() ? a.id : task.division;
  if (task.part == 0 && task.division.empty()) {
    cuts_[division] = "cut-" + std::to_string(puts_[a.id]);
  }
  report.cut = cuts_[division];
  report.files_total = 10;
  report.bytes_total = 100;
  for (const auto& part : set.status.sync.value_or(api::SharedSync{}).parts) {
    if (part.index == a.partition && part.state == "Succeeded" && broken.empty()) {
      broken = a.id + " was asked for again though it had succeeded";
    }
  }
}

std::set<std::string> Model::jobs_at(int partition) const {
  std::set<std::string> ids;
  const api::Pod* pod = pod_of(partition);
  const auto life = pod ? lives_.find(pod->meta.uid) : lives_.end();
  if (life == lives_.end()) return ids;
  for (const auto& [id, job] : life->second.jobs) {
    if (!runtime::ended(job.state)) ids.insert(id);
  }
  return ids;
}

void Model::note_ended() {
  ended_.clear();
  for (const auto& each : set.status.partitions) {
    if (each.warmed.empty()) continue;
    const auto what = std::tuple(each.warmed, each.index, each.warmed_on);
    ended_.insert(what);
    std::erase_if(cleared_, [&](const auto& old) {  // it has moved since
      return std::get<1>(old) == each.index && std::get<2>(old) != each.warmed_on;
    });
    const api::Pod* pod = pod_of(each.index);
    if (!pod || pod->node != each.warmed_on || !world.runtimes) continue;
    const RuntimeReport* answer = report_of(world, each.index);
    if (answer && answer->warmup && answer->warmup->cleared_since) cleared_.insert(what);
  }
}

void Model::create(const CreateObject& a) {
  if (child(a.kind)) return;
  const auto meta = meta_of(a.object);
  switch (a.kind) {
    case OwnedKind::kToken:
      world.token = meta;
      world.token->annotations[kRenewAfter] = rfc3339(now + std::chrono::hours(24));
      break;
    case OwnedKind::kCredentials:
      world.credentials = meta;
      break;
    case OwnedKind::kVolume:
      world.volume = VolumeSummary{
          .meta = meta,
          .claim = set.meta.key,
          .claim_uid = a.object->value("/spec/claimRef/uid"_json_pointer, std::string())};
      break;
    case OwnedKind::kClaim:
      world.claim = VolumeSummary{.meta = meta};
      break;
    case OwnedKind::kService:
      world.service = meta;
      break;
    case OwnedKind::kPolicy:
      world.policy = meta;
      break;
    case OwnedKind::kPreparation:
      world.preparation = api::Pod{.meta = meta};
      break;
    case OwnedKind::kRuntimes:
      world.runtimes =
          StatefulSetSummary{.meta = meta, .replicas = (*a.object)["spec"]["replicas"]};
      break;
  }
}

void Model::remove(OwnedKind kind) {
  if (kind == OwnedKind::kToken) world.token.reset();
  if (kind == OwnedKind::kCredentials) world.credentials.reset();
  if (kind == OwnedKind::kVolume) world.volume.reset();
  if (kind == OwnedKind::kClaim) world.claim.reset();
  if (kind == OwnedKind::kService) world.service.reset();
  if (kind == OwnedKind::kPolicy) world.policy.reset();
  if (kind == OwnedKind::kPreparation) world.preparation.reset();
  if (kind == OwnedKind::kRuntimes) world.runtimes.reset();
}

}  // namespace paddle::controllers::sample_set
