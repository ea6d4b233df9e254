// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_manager.h"

#include <charconv>
#include <filesystem>

#include "base/log.h"
#include "base/match.h"

namespace paddle::local {

using api::Json;
using api::ObjectKey;
using controllers::ReconcileResult;
using std::chrono::seconds;
namespace kinds = kube::resources;

namespace {

kube::ObjectRef ref_of(const ObjectKey& key, const std::string& uid) {
  return {.api_version = "v1", .kind = "Pod", .key = key, .uid = uid};
}

// Of a StatefulSet's pod; 0 for any other.
int ordinal_of(const std::string& pod) {
  int ordinal = 0;
  const std::size_t dash = pod.rfind('-');
  if (dash == pod.npos) return 0;
  const char* const end = pod.data() + pod.size();
  const auto read = std::from_chars(pod.data() + dash + 1, end, ordinal);
  return read.ptr == end && ordinal > 0 ? ordinal : 0;
}

}  // namespace

PodManager::~PodManager() {
  std::map<ObjectKey, std::shared_ptr<ManagedPod>> leaving;
  {
    Lock lock(mutex_);
    leaving.swap(pods_);
  }
  for (const auto& [key, managed] : leaving) {
    if (managed->runner) managed->runner->stop(seconds{0});
  }
  // A reader whose runtime was just ended would wait for it for ever.
  world_.samples.end();
  leaving.clear();
}

std::shared_ptr<PodManager::ManagedPod> PodManager::find(const ObjectKey& key) {
  Lock lock(mutex_);
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : found->second;
}

Result<ReconcileResult> PodManager::reconcile(const ObjectKey& key, std::stop_token stop) {
  if (key == kVolumesKey) {
    collect_volumes();
    return ReconcileResult{};
  }
  const kube::Call call{.stop = stop};
  const auto pod = world_.pods.find(key);
  auto managed = find(key);
  if (managed && (!pod || pod->meta.uid != managed->uid)) {
    if (!see_off(key, *managed)) return ReconcileResult{};  // its end brings us back
    managed.reset();
  }
  if (!pod) return ReconcileResult{};
  CHECK_DONE(managed ? tend(*pod, *managed, call) : begin(*pod, call));
  return ReconcileResult{};
}

Result<> PodManager::begin(const AssignedPod& pod, const kube::Call& call) {
  const Course course = course_of(pod);
  switch (course) {
    case Course::kRun:
      run(pod, {});
      return Done{};
    case Course::kRunAgain:
      run(pod, restarts_after(pod));
      return Done{};
    case Course::kRefuse:
    case Course::kGiveUp:
      return fail(pod, course, call);
    case Course::kLeave:
      remove_pod_data(world_.pod.directory, pod.meta.uid);
      return Done{};
    case Course::kFinish:
      CHECK_DONE(finish(pod.meta.key, pod.meta.uid, call));
      remove_pod_files(world_.pod.directory, pod.meta.uid);
      return Done{};
  }
  return Done{};
}

void PodManager::run(const AssignedPod& pod, std::map<std::string, int> restarts) {
  auto managed = std::make_shared<ManagedPod>();
  managed->uid = pod.meta.uid;
  managed->spec = *pod.spec;
  managed->stamps = stamps_now(*pod.spec);  // before the files are made: a change is not missed
  PodWorld world = world_.pod;
  world.places = {.claim = [this, uid = pod.meta.uid](
                               const ObjectKey& claim) { return place_claim(claim, uid); },
                  .runtime =
                      [this, uid = pod.meta.uid,
                       partition = ordinal_of(pod.meta.key.name)](const RuntimeVolume& volume) {
                        return world_.samples.place(volume, uid, partition);
                      }};
  // The runner goes before the managed that owns it, and both before the queue.
  world.report = [this, owner = managed.get()](const PodSpec& spec, const PodState& state) {
    {
      Lock lock(owner->mutex);
      owner->state = state;
    }
    world_.queue.add(spec.meta.key);
  };
  world_.events.event(
      ref_of(pod.meta.key, pod.meta.uid), kube::EventKind::kNormal,
      restarts.empty() ? "Started" : "Restarted",
      restarts.empty() ? "the node runs the pod" : "the node was restarted and runs the pod again");
  managed->runner = std::make_unique<PodRunner>(*pod.spec, std::move(world), std::move(restarts));
  Lock lock(mutex_);
  pods_[pod.meta.key] = std::move(managed);
}

Result<> PodManager::tend(const AssignedPod& pod, ManagedPod& managed, const kube::Call& call) {
  const bool deleting = pod.meta.deleting();
  if (managed.runner) {
    if (deleting) {
      managed.runner->stop(pod.grace.value_or(seconds{0}));
    } else if (pod.meta != managed.spec.meta) {
      managed.spec.meta = pod.meta;
      managed.runner->update(managed.spec);
    }
    if (Stamps stamps = stamps_now(managed.spec); stamps != managed.stamps) {
      managed.stamps = std::move(stamps);
      managed.runner->refresh();
    }
  }
  // Before the state: an end that comes between the two is seen by the pass that it causes.
  const bool ended = !managed.runner || managed.runner->ended();
  std::optional<PodState> state;
  {
    Lock lock(managed.mutex);
    state = managed.state;
  }
  if (state) {
    Json status = keep_transition_times(status_of(managed.spec, *state, world_.clock.wall()),
                                        managed.written);
    if (status != managed.written) {
      CHECK_DONE(write_status(pod.meta.key, managed.uid, status, call));
      managed.written = std::move(status);
    }
  }
  if (!ended) return Done{};
  if (managed.runner) {
    managed.runner.reset();
    world_.samples.release(managed.uid);
    remove_pod_data(world_.pod.directory, managed.uid);
    world_.queue.add(kVolumesKey);
  }
  return deleting ? finish(pod.meta.key, managed.uid, call) : Result<>(Done{});
}

bool PodManager::see_off(const ObjectKey& key, ManagedPod& managed) {
  if (managed.runner) {
    managed.runner->stop(seconds{0});
    if (!managed.runner->ended()) return false;
    managed.runner.reset();
    world_.samples.release(managed.uid);
    world_.queue.add(kVolumesKey);
  }
  remove_pod_files(world_.pod.directory, managed.uid);
  Lock lock(mutex_);
  pods_.erase(key);
  return true;
}

Result<> PodManager::fail(const AssignedPod& pod, Course course, const kube::Call& call) {
  const PodState state = failed_state(pod, course, world_.clock.wall());
  PodSpec spec = pod.spec.value_or(PodSpec{});
  spec.meta = pod.meta;
  world_.events.event(ref_of(pod.meta.key, pod.meta.uid), kube::EventKind::kWarning,
                      state.failed_reason, state.failed_message);
  CHECK_DONE(
      write_status(pod.meta.key, pod.meta.uid, status_of(spec, state, world_.clock.wall()), call));
  remove_pod_data(world_.pod.directory, pod.meta.uid);
  return Done{};
}

Result<> PodManager::write_status(const ObjectKey& key, const std::string& uid, const Json& status,
                                  const kube::Call& call) {
  const kube::Patch patch{.body = {{"metadata", {{"uid", uid}}}, {"status", status}}};
  auto stored = world_.cluster.patch(kinds::kPods, key, patch, "status", call);
  // Gone, or a namesake took its place: nobody to tell.
  if (stored.is(Code::kNotFound) || stored.is(Code::kConflict)) return Done{};
  if (!stored) return std::move(stored).error().in("write the status of pod " + to_string(key));
  world_.pods.acknowledge(*stored);
  return Done{};
}

Result<> PodManager::finish(const ObjectKey& key, const std::string& uid, const kube::Call& call) {
  auto removed = world_.cluster.remove(kinds::kPods, key, {.uid = uid, .grace_seconds = 0}, call);
  if (removed || removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
  return std::move(removed).error().in("let pod " + to_string(key) + " go");
}

Result<std::string> PodManager::place_claim(const ObjectKey& claim, const std::string& uid) {
  const auto found = world_.claims.find(claim);
  const auto volume = found ? world_.volumes.find({"", found->volume}) : nullptr;
  TRY(const ClaimMeaning meaning, meaning_of(claim, found.get(), volume.get()));
  return std::visit(
      Match{
          [&](const SampleMount& m) { return world_.samples.mount(m.handle, m.server, uid); },
          [](const HostDirectory& d) -> Result<std::string> {
            std::error_code error;
            if (std::filesystem::exists(d.path, error)) return d.path;
            return Error{Code::kNotFound, d.path + " is not on this machine"};
          },
      },
      meaning);
}

void PodManager::collect_volumes() {
  std::set<std::string> existing;
  for (const auto& volume : world_.volumes.list()) {
    if (!volume->handle.empty()) existing.insert(volume->handle);
  }
  world_.samples.collect(existing);
}

Stamps PodManager::stamps_now(const PodSpec& pod) const {
  return stamps_of(pod, [&](const MountedObject& object) {
    const auto& store = object.secret ? world_.secrets : world_.config_maps;
    const auto found = store.find({pod.meta.key.ns, object.name});
    return found ? found->version : std::string();
  });
}

}  // namespace paddle::local
