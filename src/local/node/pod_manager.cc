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

// Until volumes that a process still used are removed.
constexpr std::chrono::milliseconds kCollectPause{500};

kube::ObjectRef ref_of(const ObjectKey& key, const std::string& uid) {
  return {.api_version = "v1", .kind = "Pod", .key = key, .uid = uid};
}

// The ordinal of a StatefulSet's pod; 0 for any other.
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
  // A reader whose runtime has ended would wait for ever.
  options_.samples.end();
  leaving.clear();
}

std::shared_ptr<PodManager::ManagedPod> PodManager::find(const ObjectKey& key) {
  Lock lock(mutex_);
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : found->second;
}

Result<ReconcileResult> PodManager::reconcile(const ObjectKey& key, std::stop_token stop) {
  if (key == kVolumesKey) {
    if (collect_volumes()) return ReconcileResult{};
    return ReconcileResult{kCollectPause};
  }
  const kube::Call call{.stop = stop};
  const auto pod = options_.pods.find(key);
  auto managed = find(key);
  if (managed && (!pod || pod->meta.uid != managed->uid)) {
    if (!terminate(key, *managed)) return ReconcileResult{};  // its end causes another pass
    managed.reset();
  }
  if (!pod) return ReconcileResult{};
  std::optional<std::chrono::nanoseconds> again;
  if (managed) again = check_deadline(*pod, *managed);
  CHECK_DONE(managed ? sync(*pod, *managed, call) : begin(*pod, call));
  return ReconcileResult{again};
}

std::optional<std::chrono::nanoseconds> PodManager::check_deadline(const AssignedPod& pod,
                                                                   ManagedPod& managed) {
  if (!managed.runner || !pod.active_deadline || managed.deadline_passed) return std::nullopt;
  std::optional<WallTime> started;
  {
    Lock lock(managed.mutex);
    if (managed.state) started = managed.state->started;
  }
  if (!started) return std::nullopt;  // its start causes another pass
  const WallTime now = options_.clock.wall();
  if (!deadline_passed(pod, started, now)) return *started + *pod.active_deadline - now;
  managed.deadline_passed = true;
  managed.runner->stop(seconds{managed.spec.grace_seconds});
  return std::nullopt;
}

Result<> PodManager::begin(const AssignedPod& pod, const kube::Call& call) {
  const PodAction action = decide_action(pod);
  switch (action) {
    case PodAction::kRun:
      run(pod, {});
      return Done{};
    case PodAction::kRunAgain:
      run(pod, restarts_after(pod));
      return Done{};
    case PodAction::kReject:
    case PodAction::kMarkFailed:
      return fail(pod, action, call);
    case PodAction::kIgnore:
      remove_pod_data(options_.runner.directory, pod.meta.uid);
      return Done{};
    case PodAction::kFinish:
      CHECK_DONE(finish(pod.meta.key, pod.meta.uid, call));
      remove_pod_files(options_.runner.directory, pod.meta.uid);
      return Done{};
  }
  return Done{};
}

void PodManager::run(const AssignedPod& pod, std::map<std::string, int> restarts) {
  auto managed = std::make_shared<ManagedPod>();
  managed->uid = pod.meta.uid;
  managed->spec = *pod.spec;
  // Before the files are written, so that no change is missed.
  managed->versions = current_versions(*pod.spec);
  managed->names = current_names(pod.meta.key.ns);
  PodRunnerContext context = options_.runner;
  context.volumes = {.claim = [this, uid = pod.meta.uid](
                                  const ObjectKey& claim) { return place_claim(claim, uid); },
                     .runtime =
                         [this, uid = pod.meta.uid,
                          partition = ordinal_of(pod.meta.key.name)](const RuntimeVolume& volume) {
                           return options_.samples.place(volume, uid, partition);
                         }};
  context.service_lines = [this](const std::string& ns) { return current_names(ns); };
  // The runner is destroyed before the ManagedPod that owns it, and both before the queue.
  context.report = [this, owner = managed.get()](const PodSpec& spec, const PodState& state) {
    {
      Lock lock(owner->mutex);
      owner->state = state;
    }
    options_.queue.add(spec.meta.key);
  };
  options_.events.event(
      ref_of(pod.meta.key, pod.meta.uid), kube::EventKind::kNormal,
      restarts.empty() ? "Started" : "Restarted",
      restarts.empty() ? "the node runs the pod" : "the node was restarted and runs the pod again");
  managed->runner = std::make_unique<PodRunner>(*pod.spec, std::move(context), std::move(restarts));
  Lock lock(mutex_);
  pods_[pod.meta.key] = std::move(managed);
}

Result<> PodManager::sync(const AssignedPod& pod, ManagedPod& managed, const kube::Call& call) {
  const bool deleting = pod.meta.deleting();
  if (managed.runner) {
    if (deleting) {
      managed.runner->stop(pod.grace.value_or(seconds{0}));
    } else if (pod.meta != managed.spec.meta) {
      managed.spec.meta = pod.meta;
      managed.runner->update(managed.spec);
    }
    if (ObjectVersions versions = current_versions(managed.spec); versions != managed.versions) {
      managed.versions = std::move(versions);
      managed.runner->refresh();
    }
    if (std::string names = current_names(pod.meta.key.ns); names != managed.names) {
      managed.names = std::move(names);
      managed.runner->refresh_names();
    }
  }
  // Read before the state: an end between the two is handled by the pass that it causes.
  const bool ended = !managed.runner || managed.runner->ended();
  std::optional<PodState> state;
  {
    Lock lock(managed.mutex);
    state = managed.state;
  }
  if (state && ended && managed.deadline_passed) state = exceeded_state(*std::move(state));
  if (state) {
    Json status = keep_transition_times(status_of(managed.spec, *state, options_.clock.wall()),
                                        managed.written);
    if (status != managed.written) {
      CHECK_DONE(write_status(pod.meta.key, managed.uid, status, call));
      managed.written = std::move(status);
    }
  }
  if (!ended) return Done{};
  if (managed.runner) {
    managed.runner.reset();
    options_.samples.release(managed.uid);
    remove_pod_data(options_.runner.directory, managed.uid);
    options_.queue.add(kVolumesKey);
  }
  return deleting ? finish(pod.meta.key, managed.uid, call) : Result<>(Done{});
}

bool PodManager::terminate(const ObjectKey& key, ManagedPod& managed) {
  if (managed.runner) {
    managed.runner->stop(seconds{0});
    if (!managed.runner->ended()) return false;
    managed.runner.reset();
    options_.samples.release(managed.uid);
    options_.queue.add(kVolumesKey);
  }
  remove_pod_files(options_.runner.directory, managed.uid);
  Lock lock(mutex_);
  pods_.erase(key);
  return true;
}

Result<> PodManager::fail(const AssignedPod& pod, PodAction action, const kube::Call& call) {
  const PodState state = failed_state(pod, action, options_.clock.wall());
  PodSpec spec = pod.spec.value_or(PodSpec{});
  spec.meta = pod.meta;
  options_.events.event(ref_of(pod.meta.key, pod.meta.uid), kube::EventKind::kWarning,
                        state.failed_reason, state.failed_message);
  CHECK_DONE(write_status(pod.meta.key, pod.meta.uid, status_of(spec, state, options_.clock.wall()),
                          call));
  remove_pod_data(options_.runner.directory, pod.meta.uid);
  return Done{};
}

Result<> PodManager::write_status(const ObjectKey& key, const std::string& uid, const Json& status,
                                  const kube::Call& call) {
  const kube::Patch patch{.body = {{"metadata", {{"uid", uid}}}, {"status", status}}};
  auto stored = options_.cluster.patch(kinds::kPods, key, patch, "status", call);
  // The pod is gone or was replaced by another of the same name.
  if (stored.is(Code::kNotFound) || stored.is(Code::kConflict)) return Done{};
  if (!stored) return std::move(stored).error().in("write the status of pod " + to_string(key));
  options_.pods.acknowledge(*stored);
  return Done{};
}

Result<> PodManager::finish(const ObjectKey& key, const std::string& uid, const kube::Call& call) {
  auto removed = options_.cluster.remove(kinds::kPods, key, {.uid = uid, .grace_seconds = 0}, call);
  if (removed || removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
  return std::move(removed).error().in("remove pod " + to_string(key));
}

Result<std::string> PodManager::place_claim(const ObjectKey& claim, const std::string& uid) {
  const auto found = options_.claims.find(claim);
  const auto volume = found ? options_.volumes.find({"", found->volume}) : nullptr;
  TRY(const ClaimTarget target, resolve_claim(claim, found.get(), volume.get()));
  return std::visit(
      Match{
          [&](const SampleMount& m) { return options_.samples.mount(m.handle, m.server, uid); },
          [&](const HostDirectory& d) -> Result<std::string> {
            CHECK_DONE(expect_visible(d.path, options_.runner.hidden));
            std::error_code error;
            if (std::filesystem::exists(d.path, error)) return d.path;
            return Error{Code::kNotFound, d.path + " is not on this machine"};
          },
      },
      target);
}

bool PodManager::collect_volumes() {
  std::set<std::string> existing;
  for (const auto& volume : options_.volumes.list()) {
    if (!volume->handle.empty()) existing.insert(volume->handle);
  }
  return options_.samples.collect(existing);
}

ObjectVersions PodManager::current_versions(const PodSpec& pod) const {
  return versions_of(pod, [&](const MountedObject& object) {
    const auto& store = object.secret ? options_.secrets : options_.config_maps;
    const auto found = store.find({pod.meta.key.ns, object.name});
    return found ? found->version : std::string();
  });
}

std::string PodManager::current_names(const std::string& ns) const {
  const auto services = options_.services.list(kNamespaceIndex, ns);
  if (services.empty()) return {};
  return service_lines(services, options_.pods.list(kNamespaceIndex, ns));
}

}  // namespace paddle::local
