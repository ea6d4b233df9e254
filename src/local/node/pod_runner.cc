// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_runner.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "base/log.h"
#include "local/node/container_process.h"
#include "local/node/restart_backoff.h"

namespace paddle::local {
namespace {

using Phase = ContainerState::Phase;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Retry interval for missing objects and for volumes that are not ready.
constexpr milliseconds kRetryMissing{500};
constexpr milliseconds kRetryComing{100};
// Retry interval for a changed object that could not be read or is gone.
constexpr seconds kRetryRefresh{10};

// A mount must come after the one that it lies in, in whatever order the template has them.
std::ptrdiff_t depth_of(const std::string& path) {
  const std::filesystem::path parts = std::filesystem::path(path).lexically_normal();
  return std::ranges::count_if(parts, [](const auto& part) { return !part.empty(); });
}

// The kubelet's message.
std::string back_off(milliseconds pause, const std::string& container) {
  return "back-off " + std::to_string(pause.count() / 1000) +
         "s restarting failed container=" + container;
}

const std::string& hostname_of(const PodSpec& pod) {
  return pod.hostname.empty() ? pod.meta.key.name : pod.hostname;
}

}  // namespace

struct PodRunner::ContainerSlot {
  const Container* container = nullptr;
  ContainerState* state = nullptr;
  std::optional<ContainerProcess> process{};
  BootTime next_start{};
  int early = 0;  // RestartBackoff::early
};

PodRunner::PodRunner(PodSpec pod, PodRunnerContext context, std::map<std::string, int> restarts)
    : context_(std::move(context)),
      directory_(pod_directory(context_.directory, pod.meta.uid)),
      restarts_(std::move(restarts)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      pod_(std::move(pod)),
      thread_([this](std::stop_token stop) { run(stop); }) {}

PodRunner::~PodRunner() {
  thread_.request_stop();
  stop(seconds{0});
}

void PodRunner::wake() { eventfd_write(wake_.get(), 1); }

void PodRunner::update(const PodSpec& pod) {
  {
    Lock lock(mutex_);
    pod_.meta = pod.meta;
  }
  wake();
}

void PodRunner::refresh() {
  {
    Lock lock(mutex_);
    objects_changed_ = true;
  }
  wake();
}

void PodRunner::refresh_names() {
  {
    Lock lock(mutex_);
    names_changed_ = true;
  }
  wake();
}

void PodRunner::stop(seconds grace) {
  {
    Lock lock(mutex_);
    grace_ = grace_ ? std::min(*grace_, grace) : grace;
  }
  wake();
}

bool PodRunner::stopping() {
  Lock lock(mutex_);
  return grace_.has_value();
}

PodSpec PodRunner::spec() {
  Lock lock(mutex_);
  return pod_;
}

void PodRunner::report() { context_.report(spec(), state_); }

void PodRunner::run(std::stop_token stop) {
  state_.started = context_.clock->wall();
  state_.host_ip = context_.network->host_address();
  std::optional<PodPause> pause;
  const PodSpec pod = spec();
  const auto begin = [this](const Container& c) {
    const auto before = restarts_.find(c.name);
    return ContainerState{.restarts = before == restarts_.end() ? 0 : before->second};
  };
  for (const Container& c : pod.init) state_.init[c.name] = begin(c);
  for (const Container& c : pod.containers) state_.containers[c.name] = begin(c);

  if (auto address = context_.network->take_address(); address) {
    state_.ip = pod.host_network ? state_.host_ip : *address;
    if (context_.network->bridged() && !pod.host_network) {
      auto started = PodPause::start(context_.program);
      auto plugged =
          started ? context_.network->plug(started->pid(), *address) : Result<>(started.error());
      if (plugged) {
        network_namespace_ = started->network_path();
        pause = *std::move(started);
      } else {
        state_.failed_reason = "NetworkNotReady";
        state_.failed_message = plugged.error().message;
      }
    }
    report();
    if (state_.failed_reason.empty() && run_init(stop)) run_containers(stop);
    pause.reset();
    context_.network->give_back(*address);
  } else {
    state_.failed_reason = "NetworkNotReady";
    state_.failed_message = address.error().message;
  }
  ended_ = true;
  report();
}

Result<> PodRunner::prepare() {
  const PodSpec pod = spec();
  const PodFacts facts{pod, state_.ip, state_.host_ip};
  CHECK_DONE(make_pod_files(context_.directory, pod));
  VolumeLocator locator = context_.volumes;
  locator.hidden = context_.hidden;
  TRY(volumes_, set_up_volumes(directory_, facts, context_.objects(pod.meta.key.ns), locator));
  return Done{};
}

Result<> PodRunner::start(ContainerSlot& slot) {
  CHECK_DONE(prepare());
  const PodSpec pod = spec();
  const PodFacts facts{pod, state_.ip, state_.host_ip};
  const Container& c = *slot.container;
  TRY(Data env, environment(c, facts, context_.objects(pod.meta.key.ns)));
  for (const auto& [name, value] : context_.base_env) env.try_emplace(name, value);
  const std::string hostname = hostname_of(pod);
  env.try_emplace("HOSTNAME", hostname);

  ContainerPlan plan{.working_dir = c.working_dir,
                     .directory = directory_ + "/containers/" + c.name,
                     .network_namespace = network_namespace_,
                     .hostname = hostname,
                     .hidden = context_.hidden,
                     .security = c.security};
  for (const auto* words : {&c.command, &c.args}) {
    for (const std::string& word : *words) plan.argv.push_back(expand(word, env));
  }
  plan.env = std::move(env);
  for (const std::string& path : context_.visible_directories) {
    plan.mounts.push_back({.source = path, .target = path, .read_only = true});
  }
  TRY(const std::string memory, set_up_shared_memory(pod));
  plan.mounts.push_back({.source = memory, .target = "/dev/shm"});
  TRY(const std::string hosts, write_hosts_file(pod));
  plan.mounts.push_back({.source = hosts, .target = "/etc/hosts"});
  for (const Mount& mount : c.mounts) {
    const auto& source = pod.volumes.at(mount.volume);
    const auto* claim = std::get_if<ClaimVolume>(&source);
    plan.mounts.push_back({.source = volumes_.at(mount.volume),
                           .sub_path = mount.sub_path,
                           .target = mount.path,
                           .read_only = mount.read_only || (claim && claim->read_only),
                           .create_directory = std::holds_alternative<EmptyDirVolume>(source)});
  }
  std::ranges::stable_sort(plan.mounts, {}, [](const BindMount& m) { return depth_of(m.target); });
  std::error_code error;
  std::filesystem::create_directories(plan.directory, error);
  const int nth = slot.state->restarts;
  forget_logs_before(context_.directory, pod.meta.uid, c.name, nth - 1);
  TRY(auto process,
      ContainerProcess::start(context_.program, plan,
                              log_path(context_.directory, pod.meta.uid, c.name, nth)));
  slot.process = std::move(process);
  return Done{};
}

// One step for one container: records its exit, or starts it when it is due.
void PodRunner::sync(ContainerSlot& slot, bool init) {
  if (slot.process) {
    if (auto code = slot.process->try_wait()) {
      slot.process.reset();
      record_exit(slot, *code, init);
      report();
    }
    return;
  }
  if (is_finished(slot) || stopping() || context_.clock->boot() < slot.next_start) return;
  if (slot.state->reason == "CrashLoopBackOff") ++slot.state->restarts;
  const ContainerState before = *slot.state;
  if (auto started = start(slot); started) {
    slot.state->phase = Phase::kRunning;
    slot.state->started = context_.clock->wall();
    slot.state->message.clear();
    report();
    return;
  } else if (started.is(Code::kNotFound)) {
    slot.state->reason = "CreateContainerConfigError";
    slot.state->message = started.error().message;
    slot.next_start = context_.clock->boot() + kRetryMissing;
  } else if (started.is(Code::kUnavailable)) {
    slot.state->reason = "ContainerCreating";
    slot.state->message = started.error().message;
    slot.next_start = context_.clock->boot() + kRetryComing;
  } else {
    const WallTime now = context_.clock->wall();
    slot.state->terminated = Terminated{.exit_code = 128,
                                        .reason = "StartError",
                                        .message = started.error().message,
                                        .started = now,
                                        .finished = now};
    slot.state->phase = Phase::kTerminated;
    record_exit(slot, 128, init);
  }
  if (*slot.state != before) report();
}

void PodRunner::record_exit(ContainerSlot& slot, int exit_code, bool init) {
  if (slot.state->phase == Phase::kRunning) {
    slot.state->terminated = Terminated{.exit_code = exit_code,
                                        .reason = exit_code == 0 ? "Completed" : "Error",
                                        .started = slot.state->started,
                                        .finished = context_.clock->wall()};
    slot.state->phase = Phase::kTerminated;
  }
  mark_log_ended(context_.directory, spec().meta.uid, slot.container->name, slot.state->restarts);
  if (stopping() || !starts_again(spec().restart, *slot.state->terminated, init)) return;
  slot.state->phase = Phase::kWaiting;
  slot.state->reason = "CrashLoopBackOff";
  const auto ran = slot.state->terminated->finished - slot.state->terminated->started;
  const RestartBackoff backoff = backoff_after(
      slot.early, std::chrono::duration_cast<milliseconds>(ran), readers_wait_for(spec()));
  slot.early = backoff.early;
  slot.state->message = back_off(backoff.pause, slot.container->name);
  slot.next_start = context_.clock->boot() + backoff.pause;
}

bool PodRunner::is_finished(const ContainerSlot& slot) const {
  return !slot.process && slot.state->phase == Phase::kTerminated;
}

bool PodRunner::run_init(std::stop_token stop) {
  const PodSpec pod = spec();
  for (const Container& c : pod.init) {
    std::vector<ContainerSlot> slots(1);
    slots[0].container = &c;
    slots[0].state = &state_.init.at(c.name);
    while (!is_finished(slots[0]) && !stopping() && !stop.stop_requested()) {
      sync(slots[0], true);
      wait(slots);
    }
    end_all(slots);
    if (slots[0].state->phase != Phase::kTerminated || slots[0].state->terminated->exit_code != 0)
      return false;
  }
  return true;
}

void PodRunner::run_containers(std::stop_token stop) {
  const PodSpec pod = spec();
  std::vector<ContainerSlot> slots(pod.containers.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    slots[i].container = &pod.containers[i];
    slots[i].state = &state_.containers.at(pod.containers[i].name);
  }
  const auto all_over = [&] {
    return std::ranges::all_of(slots, [&](const ContainerSlot& slot) { return is_finished(slot); });
  };
  while (!all_over() && !stopping() && !stop.stop_requested()) {
    for (ContainerSlot& slot : slots) sync(slot, false);
    wait(slots);
  }
  end_all(slots);
}

void PodRunner::refresh_volume_files() {
  const PodSpec pod = spec();
  const auto failed = [&](const Error& error) {
    log::warn("cannot refresh the files of a pod",
              {{"pod", api::to_string(pod.meta.key)}, {"error", error.message}});
  };
  if (pod.meta != published_meta_) {
    published_meta_ = pod.meta;
    auto done = refresh_downward(directory_, {pod, state_.ip, state_.host_ip});
    if (!done) failed(done.error());
  }
  bool changed = false;
  {
    Lock lock(mutex_);
    changed = std::exchange(objects_changed_, false);
  }
  const BootTime now = context_.clock->boot();
  if (!changed && (!refresh_at_ || now < *refresh_at_)) return;
  refresh_at_.reset();
  auto done = refresh_objects(directory_, pod, context_.objects(pod.meta.key.ns));
  if (done) return;
  if (changed) failed(done.error());  // logged once; an object may be gone for long
  refresh_at_ = now + kRetryRefresh;
}

// Programs resolve their own host name, and those of Services.
Result<std::string> PodRunner::write_hosts_file(const PodSpec& pod) const {
  return write_hosts(context_.directory, pod.meta.uid, state_.ip, hostname_of(pod),
                     context_.service_lines ? context_.service_lines(pod.meta.key.ns) : "");
}

void PodRunner::refresh_hosts() {
  {
    Lock lock(mutex_);
    if (!std::exchange(names_changed_, false)) return;
  }
  const PodSpec pod = spec();
  std::error_code error;
  // Before the first start there is no file; each start writes the current names.
  if (!std::filesystem::exists(directory_ + "/hosts", error)) return;
  if (auto done = write_hosts_file(pod); !done) {
    log::warn("cannot write the names of Services for a pod",
              {{"pod", api::to_string(pod.meta.key)}, {"error", done.error().message}});
  }
}

// Waits until there is work for a container; refreshes the pod's files first.
void PodRunner::wait(std::vector<ContainerSlot>& slots) {
  refresh_volume_files();
  refresh_hosts();
  std::optional<BootTime> until = refresh_at_;
  bool all_over = true;
  for (const ContainerSlot& slot : slots) {
    all_over = all_over && is_finished(slot);
    if (slot.process || is_finished(slot)) continue;
    until = until ? std::min(*until, slot.next_start) : slot.next_start;
  }
  if (!all_over) wait_until(slots, until);
}

void PodRunner::wait_until(const std::vector<ContainerSlot>& slots, std::optional<BootTime> until) {
  std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}};
  for (const ContainerSlot& slot : slots) {
    if (slot.process) fds.push_back({slot.process->pid_fd(), POLLIN, 0});
  }
  int limit = -1;
  if (until) {
    const auto left = std::chrono::ceil<milliseconds>(*until - context_.clock->boot()).count();
    limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  poll(fds.data(), fds.size(), limit);
  eventfd_t woken = 0;
  eventfd_read(wake_.get(), &woken);
}

void PodRunner::end_all(std::vector<ContainerSlot>& slots) {
  for (ContainerSlot& slot : slots) {
    if (slot.process) slot.process->signal(SIGTERM);
  }
  const BootTime asked = context_.clock->boot();
  const auto any_left = [&] {
    return std::ranges::any_of(slots,
                               [](const ContainerSlot& slot) { return slot.process.has_value(); });
  };
  const auto grace = [this] {
    Lock lock(mutex_);
    return grace_.value_or(seconds{0});
  };
  while (any_left()) {
    std::optional<BootTime> until = asked + grace();
    if (context_.clock->boot() >= *until) {
      until.reset();
      for (ContainerSlot& slot : slots) {
        if (slot.process) slot.process->kill();
      }
    }
    for (ContainerSlot& slot : slots) {
      if (!slot.process) continue;
      if (auto code = slot.process->try_wait()) {
        slot.process.reset();
        record_exit(slot, *code, false);
      }
    }
    if (any_left()) wait_until(slots, until);
  }
}

}  // namespace paddle::local
