// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/view.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/loop/sources.h"
#include "controllers/sample_job/plan.h"
#include "controllers/sample_job/queue.h"
#include "engine/names.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_jobs {
namespace {

using api::Json;
using api::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kBySet = "sample-set";
constexpr const char* kByOwner = "owner";

std::string text_of(const ObjectKey& key) { return key.ns + "/" + key.name; }

bool unfinished(const api::SampleJob& job) {
  return job.spec.schedule.empty() && !finished(job.status.phase) && !job.meta.deleting();
}

}  // namespace

ObjectKey set_key_of(const api::SampleJob& job) {
  return {job.meta.key.ns, job.spec.sample_set ? job.spec.sample_set->name : ""};
}

View::View(const ControllerContext& around, const SampleJobOptions& options)
    : cluster_(around.cluster),
      queue_(around.queue),
      options_(options),
      jobs_(around.informers.of<api::SampleJob>(kinds::kSampleJobs, {.ns = options.ns},
                                                {"sample-job", api::decode_sample_job})),
      sets_(around.informers.of<api::SampleSet>(kinds::kSampleSets, {.ns = options.ns},
                                                {"sample-set", api::decode_sample_set})),
      pods_(around.informers.of<api::Pod>(kinds::kPods,
                                          {.ns = options.ns, .label_selector = engine::kSetLabel},
                                          {"pod", api::decode_pod})),
      access_(around.cluster, options.runtime_at) {
  jobs_.add_index(kBySet, [](const api::SampleJob& job) {
    return std::vector<std::string>{text_of(set_key_of(job))};
  });
  jobs_.add_index(kByOwner, [](const api::SampleJob& job) {
    std::vector<std::string> owners;
    if (const auto* owner = job.meta.controller()) owners.push_back(owner->uid);
    return owners;
  });
  pods_.add_index(kBySet, [](const api::Pod& pod) {
    std::vector<std::string> keys;
    const auto label = pod.meta.labels.find(engine::kSetLabel);
    if (label != pod.meta.labels.end()) keys.push_back(pod.meta.key.ns + "/" + label->second);
    return keys;
  });
  listen(queue_);
}

void View::listen(WorkQueue& queue) {
  for_kind(jobs_, queue);
  owns(jobs_, kinds::kSampleJobs, queue);
  // The jobs of a set that have not ended; of those that wait only the ones whose turn is near.
  const auto concerned = [jobs = jobs_](const ObjectKey& set) {
    std::vector<std::shared_ptr<const api::SampleJob>> waiting;
    std::vector<ObjectKey> keys;
    for (const auto& job : jobs.list(kBySet, text_of(set))) {
      if (!unfinished(*job)) continue;
      if (job->status.job_name.empty()) {
        waiting.push_back(job);
      } else {
        keys.push_back(job->meta.key);
      }
    }
    std::ranges::sort(waiting, [](const auto& a, const auto& b) {
      return std::tie(a->meta.created, a->meta.key.name) <
             std::tie(b->meta.created, b->meta.key.name);
    });
    constexpr size_t kNear = 8 * kSentAtOnce;
    if (waiting.size() > kNear) waiting.resize(kNear);
    for (const auto& job : waiting) keys.push_back(job->meta.key);
    return keys;
  };
  jobs_.on_change([this, &queue, concerned](const ObjectKey&, const api::SampleJob* before,
                                            const api::SampleJob* after) {
    // Progress of one is not the others' affair: its coming, sending and end are.
    const bool news = !before || !after || before->status.job_name != after->status.job_name ||
                      finished(before->status.phase) != finished(after->status.phase) ||
                      before->spec.terminate != after->spec.terminate;
    if (!news) return;
    const ObjectKey set = set_key_of(after ? *after : *before);
    for (const ObjectKey& key : concerned(set)) queue.add(key);
    if (!after) sweep_again(set);
  });
  watches(sets_, queue, [concerned](const api::SampleSet& set) {
    auto keys = concerned(set.meta.key);
    keys.push_back({set.meta.key.ns, kSetKey + set.meta.key.name});
    return keys;
  });
  watches(pods_, queue, [concerned](const api::Pod& pod) {
    const auto label = pod.meta.labels.find(engine::kSetLabel);
    if (label == pod.meta.labels.end()) return std::vector<ObjectKey>{};
    return concerned({pod.meta.key.ns, label->second});
  });
}

std::vector<Sibling> View::siblings_of(const api::SampleJob& job) const {
  std::vector<Sibling> siblings;
  for (const auto& other : jobs_.list(kBySet, text_of(set_key_of(job)))) {
    if (other->meta.key == job.meta.key || !unfinished(*other)) continue;
    const auto* ready = api::find_condition(other->status.conditions, "Ready");
    static constexpr const char* kOwn[] = {"ErrorSecretNotExist", "SecretElsewhere", "Suspended",
                                           "Retrying"};
    siblings.push_back({.name = other->meta.key.name,
                        .type = other->spec.type,
                        .created = other->meta.created.value_or(WallTime{}),
                        .sent = !other->status.job_name.empty(),
                        .waits = ready && std::ranges::find(kOwn, ready->reason) != std::end(kOwn),
                        .terminate = other->spec.terminate});
  }
  return siblings;
}

std::vector<Seat> View::seats(const api::SampleSet& set) const {
  std::vector<Seat> found;
  for (const auto& pod : pods_.list(kBySet, text_of(set.meta.key))) {
    if (pod->meta.deleting() || pod->ip.empty() || pod->phase != api::PodPhase::kRunning) continue;
    for (int i = 0; i < set.spec.effective_partitions(); ++i) {
      if (pod->meta.key.name == engine::runtime_pod_name(set, i)) {
        found.push_back({i, pod->node, pod->ip});
      }
    }
  }
  std::ranges::sort(found, {}, &Seat::partition);
  return found;
}

const engine::ManifestBuilder* View::face_of(const api::SampleSet& set) const {
  for (const auto& face : options_.engines) {
    if (face->name() == set.status.engine) return face.get();
  }
  return nullptr;
}

Result<std::optional<runtime::RuntimeCredentials>> View::access_to(const api::SampleSet& set,
                                                                   const kube::Call& call) {
  const engine::ManifestBuilder* face = face_of(set);
  return access_.of(set, face && face->serves_tls(), call);
}

Result<engine::SourceKeys> View::keys_for(const api::SampleJob& job, const api::SampleSet& set,
                                          const kube::Call& call) {
  engine::SourceKeys keys;
  if (job.spec.type != "sync" || !job.spec.secret) return keys;
  const bool of_source = set.spec.source && set.spec.source->secret;
  const auto& own = of_source ? set.spec.source->secret : set.spec.secret;
  if (own && own->name == job.spec.secret->name) return keys;
  auto secret = cluster_.get(kinds::kSecrets, {job.meta.key.ns, job.spec.secret->name}, call);
  if (secret.is(Code::kNotFound) && may_be_missing(*job.spec.secret)) return keys;
  if (!secret) return std::move(secret).error();
  for (auto& [name, text] : runtime::secret_values(*secret)) {
    // `echo value | base64` leaves a newline.
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    if (!text.empty()) keys.values[name] = std::move(text);
  }
  return keys;
}

bool View::needs_sweep(const ObjectKey& set) {
  Lock lock(mutex_);
  return !swept_.contains(set);
}

void View::swept(const ObjectKey& set) {
  Lock lock(mutex_);
  swept_.insert(set);
}

void View::sweep_again(const ObjectKey& set) {
  {
    Lock lock(mutex_);
    swept_.erase(set);
  }
  queue_.add({set.ns, kSetKey + set.name});
}

// Before it is sent, a runtime that runs will do; afterwards each is asked about the job.
std::vector<PartitionReport> View::ask(const api::SampleJob& job, const api::SampleSet& set,
                                       const kube::Call& call) {
  std::vector<PartitionReport> answers;
  std::optional<runtime::RuntimeCredentials> access;
  std::string error;
  if (!job.status.job_name.empty() || !job.status.left.empty()) {
    auto read = access_to(set, call);
    if (read) access = *read;
    error = !read ? read.error().message : (access ? "" : "its set has no secret for runtimes");
  }
  for (const Seat& seat : seats(set)) {
    PartitionReport answer{.partition = seat.partition, .node = seat.node};
    const auto part =
        std::ranges::find(job.status.partitions, seat.partition, &api::JobPartition::index);
    const bool open = part != job.status.partitions.end() && part->state != "Succeeded" &&
                      part->state != "Failed" && part->state != "Cancelled";
    const auto left = std::ranges::find(job.status.left, seat.partition, &api::JobPartition::index);
    const bool gave_up = left != job.status.left.end();
    if ((!job.status.job_name.empty() && open) || gave_up) {
      answer.error = error;
      if (access) {
        const std::string& id = open ? part->id : left->id;
        auto report = runtime_at(seat, set, *access)->job(id, call.stop);
        if (report && open) answer.job = *std::move(report);
        if (!report && !report.is(Code::kNotFound)) answer.error = report.error().message;
      }
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

Result<World> View::world_of(const api::SampleJob& job, const kube::Call& call) {
  World world;
  if (!job.spec.schedule.empty()) {
    for (const auto& run : jobs_.list(kByOwner, job.meta.uid)) world.runs.push_back(*run);
    return world;
  }
  world.siblings = siblings_of(job);
  if (finished(job.status.phase) && !begins_again(job) && job.status.left.empty()) {
    return world;  // nothing is asked any more
  }
  if (const auto set = sets_.find(set_key_of(job))) {
    world.set = *set;
    if (const auto* face = face_of(*set)) world.shares_volume = face->shares_volume();
    world.answers = ask(job, *set, call);
  }
  if (job.spec.secret && (job.status.job_name.empty() || begins_again(job))) {
    const ObjectKey key{job.meta.key.ns, job.spec.secret->name};
    auto secret = cluster_.get(kinds::kSecrets, key, call);
    if (!secret && !secret.is(Code::kNotFound)) return std::move(secret).error();
    world.secret_exists = secret || may_be_missing(*job.spec.secret);
  }
  return world;
}

}  // namespace paddle::controllers::sample_jobs
