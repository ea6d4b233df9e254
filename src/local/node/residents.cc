// SPDX-License-Identifier: Apache-2.0
#include "local/node/residents.h"

#include <charconv>
#include <filesystem>

#include "base/log.h"
#include "base/match.h"

namespace paddle::local {

using api::Json;
using api::ObjectKey;
using controllers::Outcome;
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

Residents::~Residents() {
  std::map<ObjectKey, std::shared_ptr<Resident>> leaving;
  {
    Lock lock(mutex_);
    leaving.swap(residents_);
  }
  for (const auto& [key, resident] : leaving) {
    if (resident->runner) resident->runner->stop(seconds{0});
  }
  // A reader whose runtime was just ended would wait for it for ever.
  world_.samples.end();
  leaving.clear();
}

std::shared_ptr<Residents::Resident> Residents::find(const ObjectKey& key) {
  Lock lock(mutex_);
  const auto found = residents_.find(key);
  return found == residents_.end() ? nullptr : found->second;
}

Result<Outcome> Residents::reconcile(const ObjectKey& key, std::stop_token stop) {
  if (key == kVolumesKey) {
    collect_volumes();
    return Outcome{};
  }
  const kube::Call call{.stop = stop};
  const auto pod = world_.pods.find(key);
  auto resident = find(key);
  if (resident && (!pod || pod->meta.uid != resident->uid)) {
    if (!see_off(key, *resident)) return Outcome{};  // its end brings us back
    resident.reset();
  }
  if (!pod) return Outcome{};
  CHECK_DONE(resident ? tend(*pod, *resident, call) : begin(*pod, call));
  return Outcome{};
}

Result<> Residents::begin(const AssignedPod& pod, const kube::Call& call) {
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

void Residents::run(const AssignedPod& pod, std::map<std::string, int> restarts) {
  auto resident = std::make_shared<Resident>();
  resident->uid = pod.meta.uid;
  resident->spec = *pod.spec;
  resident->stamps = stamps_now(*pod.spec);  // before the files are made: a change is not missed
  PodWorld world = world_.pod;
  world.places = {.claim = [this, uid = pod.meta.uid](
                               const ObjectKey& claim) { return place_claim(claim, uid); },
                  .runtime =
                      [this, uid = pod.meta.uid,
                       partition = ordinal_of(pod.meta.key.name)](const RuntimeVolume& volume) {
                        return world_.samples.place(volume, uid, partition);
                      }};
  // The runner goes before the resident that owns it, and both before the queue.
  world.report = [this, owner = resident.get()](const PodSpec& spec, const PodState& state) {
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
  resident->runner = std::make_unique<PodRunner>(*pod.spec, std::move(world), std::move(restarts));
  Lock lock(mutex_);
  residents_[pod.meta.key] = std::move(resident);
}

Result<> Residents::tend(const AssignedPod& pod, Resident& resident, const kube::Call& call) {
  const bool deleting = pod.meta.deleting();
  if (resident.runner) {
    if (deleting) {
      resident.runner->stop(pod.grace.value_or(seconds{0}));
    } else if (pod.meta != resident.spec.meta) {
      resident.spec.meta = pod.meta;
      resident.runner->update(resident.spec);
    }
    if (Stamps stamps = stamps_now(resident.spec); stamps != resident.stamps) {
      resident.stamps = std::move(stamps);
      resident.runner->refresh();
    }
  }
  // Before the state: an end that comes between the two is seen by the pass that it causes.
  const bool ended = !resident.runner || resident.runner->ended();
  std::optional<PodState> state;
  {
    Lock lock(resident.mutex);
    state = resident.state;
  }
  if (state) {
    Json status = keep_transition_times(status_of(resident.spec, *state, world_.clock.wall()),
                                        resident.written);
    if (status != resident.written) {
      CHECK_DONE(write_status(pod.meta.key, resident.uid, status, call));
      resident.written = std::move(status);
    }
  }
  if (!ended) return Done{};
  if (resident.runner) {
    resident.runner.reset();
    world_.samples.release(resident.uid);
    remove_pod_data(world_.pod.directory, resident.uid);
    world_.queue.add(kVolumesKey);
  }
  return deleting ? finish(pod.meta.key, resident.uid, call) : Result<>(Done{});
}

bool Residents::see_off(const ObjectKey& key, Resident& resident) {
  if (resident.runner) {
    resident.runner->stop(seconds{0});
    if (!resident.runner->ended()) return false;
    resident.runner.reset();
    world_.samples.release(resident.uid);
    world_.queue.add(kVolumesKey);
  }
  remove_pod_files(world_.pod.directory, resident.uid);
  Lock lock(mutex_);
  residents_.erase(key);
  return true;
}

Result<> Residents::fail(const AssignedPod& pod, Course course, const kube::Call& call) {
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

Result<> Residents::write_status(const ObjectKey& key, const std::string& uid, const Json& status,
                                 const kube::Call& call) {
  const kube::Patch patch{.body = {{"metadata", {{"uid", uid}}}, {"status", status}}};
  auto stored = world_.cluster.patch(kinds::kPods, key, patch, "status", call);
  // Gone, or a namesake took its place: nobody to tell.
  if (stored.is(Code::kNotFound) || stored.is(Code::kConflict)) return Done{};
  if (!stored) return std::move(stored).error().in("write the status of pod " + to_string(key));
  world_.pods.acknowledge(*stored);
  return Done{};
}

Result<> Residents::finish(const ObjectKey& key, const std::string& uid, const kube::Call& call) {
  auto removed = world_.cluster.remove(kinds::kPods, key, {.uid = uid, .grace_seconds = 0}, call);
  if (removed || removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
  return std::move(removed).error().in("let pod " + to_string(key) + " go");
}

Result<std::string> Residents::place_claim(const ObjectKey& claim, const std::string& uid) {
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

void Residents::collect_volumes() {
  std::set<std::string> existing;
  for (const auto& volume : world_.volumes.list()) {
    if (!volume->handle.empty()) existing.insert(volume->handle);
  }
  world_.samples.collect(existing);
}

Stamps Residents::stamps_now(const PodSpec& pod) const {
  return stamps_of(pod, [&](const MountedObject& object) {
    const auto& store = object.secret ? world_.secrets : world_.config_maps;
    const auto found = store.find({pod.meta.key.ns, object.name});
    return found ? found->version : std::string();
  });
}

}  // namespace paddle::local
