// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/plan.h"

#include <algorithm>
#include <limits>

#include "controllers/runtime_jobs/fanout.h"
#include "controllers/sample_job/queue.h"
#include "controllers/sample_job/request.h"
#include "controllers/sample_job/schedule_plan.h"
#include "runtime/protocol/request_fields.h"

namespace paddle::controllers::sample_jobs {
namespace {

using namespace runtime_jobs;
using std::chrono::seconds;

constexpr seconds kWaiting{10};    // what is waited for wakes the job; this is for what does not
constexpr seconds kFollowing{2};   // while runtimes work
constexpr seconds kFirstPause{5};  // before a failed attempt is repeated; doubled each time
constexpr int kMostDoublings = 6;

// Why nothing begins.
struct Hold {
  std::string reason{};
  std::string message{};
};

int partitions_of(const api::SampleSet& set) { return set.spec.effective_partitions(); }

bool is_shared(const api::SampleJob& job, const World& world) {
  return world.shares_volume && may_be_shared(job);
}

// Which runtimes have to be there.
int needed(const api::SampleJob& job, const World& world) {
  const bool firsts = world.shares_volume && (job.spec.type == "sync" || job.spec.type == "rmr");
  return firsts ? 1 : partitions_of(*world.set);
}

// Which runtimes have work to do: of a sync that they share, those that are there.
std::vector<int> targets(const api::SampleJob& job, const World& world) {
  if (is_shared(job, world)) return sharing_partitions(world.answers, partitions_of(*world.set));
  std::vector<int> found;
  for (int i = 0; i < needed(job, world); ++i) found.push_back(i);
  return found;
}

// Of a sync that runtimes share, the next one begins when all parts have ended: it may delete what
// another one is about to write.
int sent_at_once(const api::SampleJob& job, const World& world) {
  const bool one = job.spec.type == "sync" && world.shares_volume && partitions_of(*world.set) > 1;
  return one ? 1 : kSentAtOnce;
}

// The part of a partition, as the status has divided it.
Result<runtime::JobRequest> request_for(const api::SampleJob& job, const World& world,
                                        const api::SampleJobStatus& status,
                                        const api::JobPartition& part) {
  if (!is_shared(job, world)) {
    return request_of(job, *world.set, part.index, partitions_of(*world.set));
  }
  TRY(runtime::JobRequest request, request_of(job, *world.set, 0, 1));
  describe_part(part, status.partitions, runtime::lists_address(*world.set), request);
  return request;
}

bool can_work(const api::SampleSet& set) {
  const std::string& phase = set.status.phase;
  return phase == "Ready" || phase == "PartialReady" || phase == "Syncing" ||
         phase == "SyncFailed" || phase == "Mount";
}

// Roughly, or each step of a long queue would be a write for everybody in it.
std::string queued_text(int ahead) {
  const char* many = ahead >= 100 ? "at least 100" : ahead >= 10 ? "at least 10" : "fewer than 10";
  return std::string(many) + " jobs of this type come first";
}

std::optional<Hold> what_is_missing(const api::SampleJob& job, const World& world) {
  if (job.spec.suspend) return Hold{"Suspended", "spec.suspend is true; set it to false to go on"};
  const std::string set = job.spec.sample_set ? job.spec.sample_set->name : "";
  if (!world.set || world.set->meta.deleting()) {
    return Hold{"ErrorSampleSetNotExist", "waiting for the sampleset " + set +
                                              "; create it in the namespace " + job.meta.key.ns};
  }
  if (job.spec.secret && !job.spec.secret->ns.empty() && job.spec.secret->ns != job.meta.key.ns) {
    return Hold{"SecretElsewhere", "the secret " + job.spec.secret->name +
                                       " is in another namespace, " + job.spec.secret->ns +
                                       "; create it in " + job.meta.key.ns};
  }
  if (world.secret_exists && !*world.secret_exists) {
    return Hold{"ErrorSecretNotExist", "waiting for the secret " + job.spec.secret->name +
                                           "; create it in the namespace " + job.meta.key.ns};
  }
  if (!can_work(*world.set)) {
    const std::string phase = world.set->status.phase;
    return Hold{"WaitingForSampleSet", "waiting for the sampleset " + set + ", which is " +
                                           (phase.empty() ? "new" : phase) +
                                           "; see kubectl describe sampleset " + set};
  }
  const auto& first_sync = world.set->status.sync;
  if (job.spec.type == "sync" && first_sync && world.set->status.phase != "SyncFailed") {
    return Hold{"WaitingForSampleSet", "waiting for the first sync of the sampleset " + set +
                                           ", which its runtimes share"};
  }
  std::string away;
  for (int i = 0; i < needed(job, world); ++i) {
    if (is_reachable(world.answers, i)) continue;
    away += (away.empty() ? "" : ", ") + std::to_string(i);
  }
  if (!away.empty()) {
    return Hold{"WaitingForRuntimes", "waiting for the runtimes of partition " + away};
  }
  if (const auto by = waits_for_terminator(job, world.siblings); !by.empty()) {
    return Hold{"Terminating", "waiting for samplejob " + by + " to cancel older jobs of the set"};
  }
  if (const int left = left_to_cancel(job, world.siblings); left > 0) {
    return Hold{"Terminating",
                "waiting for " + std::to_string(left) + " older jobs of the set to be cancelled"};
  }
  if (const int ahead = ahead_of(job, world.siblings, sent_at_once(job, world)); ahead > 0) {
    return Hold{"Queued", queued_text(ahead)};
  }
  return std::nullopt;
}

void say(const api::SampleJob& job, api::SampleJobStatus& status, const char* type, bool holds,
         std::string reason, std::string message, WallTime now) {
  api::set_condition(status.conditions,
                     {.type = type,
                      .status = holds ? "True" : "False",
                      .reason = std::move(reason),
                      .message = std::move(message),
                      .observed_generation = job.meta.generation},
                     now);
}

std::string event_of(const api::SampleJob& job, const std::string& verb) {
  std::string type = job.spec.type.empty() ? "" : job.spec.type;
  if (!type.empty()) type[0] = static_cast<char>(type[0] - 'a' + 'A');
  return verb + type + "Job";
}

void end(const api::SampleJob& job, api::SampleJobStatus& status, bool good, std::string reason,
         std::string message, WallTime now, Plan& plan) {
  status.phase = good ? kSucceeded : kFailed;
  status.completion_time = now;
  if (!status.start_time) status.start_time = now;
  if (status.work) status.work->bytes_per_second = status.work->eta_seconds = 0;
  say(job, status, good ? "Complete" : "Failed", true, reason, message, now);
  say(job, status, "Ready", false, reason, message, now);
  plan.actions.emplace_back(
      Tell{!good, good ? event_of(job, "Do") + "Successfully" : event_of(job, "ErrorDo"), message});
}

// ---- waiting and beginning ----

std::string next_id(const api::SampleJob& job, const api::SampleJobStatus& status) {
  return id_prefix(job.meta) + std::to_string(job.meta.generation) + "-" +
         std::to_string(status.failures);
}

void begin(const std::string& id, api::SampleJobStatus& status) {
  status.job_name = id;
  status.work.reset();
  status.progress.clear();
}

seconds pause_after(int failures) {
  return kFirstPause * (1 << std::clamp(failures - 1, 0, kMostDoublings));
}

// After a failed attempt there is a pause; nothing: it may begin.
std::optional<seconds> pausing(const api::SampleJobStatus& status, WallTime now) {
  if (status.failures == 0 || !status.last_failure) return std::nullopt;
  const auto since = now - *status.last_failure;
  const auto pause = pause_after(status.failures);
  if (since < seconds(0) || since >= pause) return std::nullopt;
  return std::chrono::ceil<seconds>(pause - since);
}

// When its time is up, if it has begun and has a limit.
std::optional<WallTime> deadline_of(const api::SampleJob& job, const api::SampleJobStatus& status) {
  if (!job.spec.active_deadline_seconds || !status.start_time) return std::nullopt;
  return *status.start_time + seconds(*job.spec.active_deadline_seconds);
}

void end_late(const api::SampleJob& job, api::SampleJobStatus& status, WallTime now, Plan& plan) {
  end(job, status, false, "DeadlineExceeded",
      "ran longer than activeDeadlineSeconds allows; cancelled", now, plan);
}

// Parts that were given up, and whose runtimes may not know it yet.
void cancel_left_parts(const World& world, api::SampleJobStatus& status, Plan& plan) {
  cancel_abandoned(world.answers, world.set ? partitions_of(*world.set) : 0, status.left,
                   [&](const api::JobPartition& part) {
                     plan.actions.emplace_back(CancelJob{part.index, part.id});
                   });
}

Plan wait_or_begin(const api::SampleJob& job, const World& world, api::SampleJobStatus status,
                   WallTime now) {
  Plan plan;
  status.phase = kPending;
  if (job.spec.suspend) status.start_time.reset();  // resumed, it has all of its time again
  cancel_left_parts(world, status, plan);
  const auto deadline = deadline_of(job, status);
  if (const auto by = terminator_of(job, world.siblings); !by.empty()) {
    end(job, status, false, "Terminated", "cancelled by samplejob " + by, now, plan);
  } else if (deadline && now >= *deadline) {
    end_late(job, status, now, plan);
  } else if (const auto hold = what_is_missing(job, world)) {
    const auto* before = api::find_condition(job.status.conditions, "Ready");
    say(job, status, "Ready", false, hold->reason, hold->message, now);
    if (hold->reason.starts_with("Error") && (!before || before->reason != hold->reason)) {
      plan.actions.emplace_back(Tell{true, hold->reason, hold->message});
    }
    plan.requeue_after = kWaiting;
  } else if (const auto pause = pausing(status, now)) {
    const auto* ready = api::find_condition(status.conditions, "Ready");
    if (!ready || ready->reason != "Retrying") {
      say(job, status, "Ready", false, "Retrying",
          "attempt " + std::to_string(status.failures) + " failed", now);
    }
    plan.requeue_after = *pause;
  } else if (auto request = request_of(job, *world.set, 0, partitions_of(*world.set)); !request) {
    end(job, status, false, "InvalidSpec", request.error().message, now, plan);
  } else {
    begin(next_id(job, status), status);
    status.partitions = start_partitions(status.job_name, targets(job, world));
    if (!status.start_time) status.start_time = now;
    say(job, status, "Ready", false, "Starting", "the runtimes are being asked", now);
    if (const auto remark = remark_on(job); !remark.empty()) {
      say(job, status, "Warning", true, "CheckSpec", remark, now);
    }
    plan.requeue_after = seconds(0);  // stored first; then the runtimes are asked
  }
  if (plan.requeue_after && deadline && !finished(status.phase)) {
    plan.requeue_after = std::min<std::chrono::nanoseconds>(*plan.requeue_after, *deadline - now);
  }
  if (status != job.status) plan.actions.emplace_back(SetStatus{std::move(status)});
  return plan;
}

// ---- following ----

// What has not ended is cancelled: where its runtime is there, at once; else when it is back.
void cancel_rest(const World& world, const std::string& why, api::SampleJobStatus& status,
                 Plan& plan) {
  for (auto& each : status.partitions) {
    if (ended(each.state)) continue;
    if (is_reachable(world.answers, each.index)) {
      plan.actions.emplace_back(CancelJob{each.index, each.id});
    } else if (world.set) {
      status.left.push_back({.index = each.index, .id = each.id});
    }
    each.state = kCancelled;
    if (!why.empty()) each.message = why;
  }
}

// Partitions that the set has; as many as there may be while nobody knows.
int known_partitions(const World& world) {
  return world.set ? partitions_of(*world.set) : std::numeric_limits<int>::max();
}

// Whether a runtime may have had this part before, and have forgotten it.
bool was_asked(const api::SampleJobStatus& stored, const api::JobPartition& part) {
  const auto before = std::ranges::find(stored.partitions, part.index, &api::JobPartition::index);
  return before != stored.partitions.end() && before->id == part.id && !before->node.empty();
}

// What the runtimes say goes into the status; who has not heard of its part is asked.
void follow_parts(const api::SampleJob& job, const World& world, api::SampleJobStatus& status,
                  WallTime now, Plan& plan) {
  const bool shared = world.set && is_shared(job, world);
  for (auto& part : status.partitions) {
    if (shared || ended(part.state) || part.index < known_partitions(world)) continue;
    part.state = kCancelled;
    part.message = "the set has fewer partitions now";
  }
  update_partitions(world.answers, known_partitions(world), now, status.partitions,
                    [&](const api::JobPartition& part) {
                      auto request = request_for(job, world, status, part);
                      if (!request) return;
                      request->which.again = was_asked(job.status, part);
                      plan.actions.emplace_back(PutJob{part.index, part.id, *std::move(request)});
                    });
  status.work = sum(status.partitions);
  status.progress = progress_text(*status.work);
}

// What the others have is of no use without the part that failed; and they may wait for it.
void give_up_rest(const World& world, api::SampleJobStatus& status, Plan& plan) {
  const auto failed = std::ranges::find_if(status.partitions, [](const api::JobPartition& part) {
    return part.state == kFailed || part.state == kCancelled;
  });
  if (failed == status.partitions.end()) return;
  cancel_rest(world,
              "cancelled, because partition " + std::to_string(failed->index) + " was not done",
              status, plan);
}

// Under another id; what has been copied is not copied again.
void share_again(const api::SampleJob& job, const World& world, const std::string& why,
                 api::SampleJobStatus& status, WallTime now, Plan& plan) {
  std::erase_if(plan.actions, [](const Action& a) { return std::holds_alternative<PutJob>(a); });
  begin(next_division_id(status.job_name), status);
  redivide(status.job_name, targets(job, world), status.partitions, status.left);
  cancel_left_parts(world, status, plan);
  say(job, status, "Ready", false, "Starting", "begins once more: " + why, now);
  plan.requeue_after = seconds(0);
}

// How many quarters of the bytes are there; 0 while nobody knows how many there are.
std::int64_t quarters(const std::optional<api::Work>& work) {
  return work && work->bytes_total > 0
             ? work->bytes_done / std::max<std::int64_t>(1, work->bytes_total / 4)
             : 0;
}

std::string done_text(const api::SampleJobStatus& status) {
  const std::size_t parts = status.partitions.size();
  std::string text = parts == 1 ? "done" : "done on all " + std::to_string(parts) + " partitions";
  if (const std::string what = status.work ? amount_text(*status.work) : ""; !what.empty()) {
    text += ": " + what;
  }
  // Every runtime lists for itself, and finds the same.
  const auto remark = std::ranges::find_if(
      status.partitions, [](const api::JobPartition& part) { return !part.message.empty(); });
  if (remark != status.partitions.end()) text += "; " + remark->message;
  return text;
}

void conclude(const api::SampleJob& job, const World& world, api::SampleJobStatus& status,
              WallTime now, Plan& plan) {
  const auto count = [&](const char* state) {
    return std::ranges::count(status.partitions, std::string(state), &api::JobPartition::state);
  };
  const auto all = static_cast<std::ptrdiff_t>(status.partitions.size());
  if (count(kSucceeded) == all && all > 0) {
    if (all > 1 && world.set && is_shared(job, world)) {
      plan.actions.emplace_back(CountSync{status.job_name + "-all"});
    }
    status.progress = status.work && status.work->bytes_total > 0
                          ? progress_text(*status.work)
                          : (status.progress.empty() ? "100%" : status.progress);
    return end(job, status, true, "Succeeded", done_text(status), now, plan);
  }
  if (count(kSucceeded) + count(kFailed) + count(kCancelled) == all && all > 0) {
    const std::string why = failures_text(status.partitions);
    status.failures += 1;
    if (status.failures > job.spec.backoff_limit.value_or(0)) {
      return end(job, status, false, "RuntimeFailed", why, now, plan);
    }
    status.phase = kPending;
    status.job_name.clear();
    status.last_failure = now;
    say(job, status, "Ready", false, "Retrying",
        "attempt " + std::to_string(status.failures) + " failed: " + why, now);
    plan.requeue_after = pause_after(status.failures);
    return;
  }
  status.phase = count(kRunning) > 0 || job.status.phase == kRunning ? kRunning : kPending;
  std::string text = status.progress.empty() ? "the runtimes are at work" : status.progress;
  if (status.work && status.work->bytes_per_second > 0 && status.work->eta_seconds > 0) {
    text += ", " + std::to_string(status.work->eta_seconds) + " s left";
  }
  for (const auto& part : status.partitions) {
    if (ended(part.state) || part.message.empty()) continue;
    text += "; partition " + std::to_string(part.index) + ": " + part.message;
    break;
  }
  say(job, status, "Ready", status.phase == kRunning,
      status.phase == kRunning ? "Running" : "Starting", text, now);
  if (const auto now_there = quarters(status.work);
      now_there > quarters(job.status.work) && now_there < 4) {
    plan.actions.emplace_back(Tell{false, "Progress", text});
  }
  plan.requeue_after = kFollowing;
}

Plan go_on(const api::SampleJob& job, const World& world, api::SampleJobStatus status,
           WallTime now) {
  Plan plan;
  cancel_left_parts(world, status, plan);
  follow_parts(job, world, status, now, plan);
  const bool shared = world.set && is_shared(job, world);
  if (shared) give_up_rest(world, status, plan);
  const std::string by = terminator_of(job, world.siblings);
  const bool over = std::ranges::all_of(
      status.partitions, [](const api::JobPartition& part) { return ended(part.state); });
  const auto deadline = deadline_of(job, status);
  const bool late = deadline && now >= *deadline;
  if (!over && (late || !by.empty() || job.spec.suspend)) {
    std::erase_if(plan.actions, [](const Action& a) { return std::holds_alternative<PutJob>(a); });
    cancel_rest(world, "", status, plan);
    if (!by.empty()) {
      end(job, status, false, "Terminated", "cancelled by samplejob " + by, now, plan);
    } else if (late) {
      end_late(job, status, now, plan);
    } else {
      status.phase = kPending;
      status.job_name.clear();
      status.start_time.reset();
      say(job, status, "Ready", false, "Suspended",
          "spec.suspend is true; set it to false to begin again", now);
    }
  } else {
    if (job.status.phase == kPending && !plan.actions.empty()) {
      plan.actions.emplace_back(
          Tell{false, event_of(job, "Create") + "Successfully", "the runtimes have been asked"});
    }
    const std::string why =
        shared ? redivision_reason(status.partitions, partitions_of(*world.set), now) : "";
    if (why.empty()) {
      conclude(job, world, status, now, plan);
    } else {
      share_again(job, world, why, status, now, plan);
    }
  }
  if (status != job.status) plan.actions.emplace_back(SetStatus{std::move(status)});
  return plan;
}

// ---- the end ----

Plan after_end(const api::SampleJob& job, const World& world, WallTime now) {
  Plan plan;
  if (!job.status.left.empty()) {
    api::SampleJobStatus status = job.status;
    cancel_left_parts(world, status, plan);
    if (!status.left.empty()) plan.requeue_after = kWaiting;
    if (status != job.status) plan.actions.emplace_back(SetStatus{std::move(status)});
  }
  if (!job.spec.ttl_seconds_after_finished || !job.status.completion_time) return plan;
  const WallTime due = *job.status.completion_time + seconds(*job.spec.ttl_seconds_after_finished);
  if (now >= due) {
    plan.actions.emplace_back(DeleteThis{});
  } else {
    const std::chrono::nanoseconds wait = due - now;
    plan.requeue_after = std::min(plan.requeue_after.value_or(wait), wait);
  }
  return plan;
}

}  // namespace

bool begins_again(const api::SampleJob& job) {
  return job.status.phase == kFailed && job.status.observed_generation != job.meta.generation;
}

bool finished(const std::string& phase) { return phase == kSucceeded || phase == kFailed; }

std::string finalizer_of(const api::SampleJob& job) {
  return "paddlepaddle.org/samplejob-" + job.meta.key.name;
}

std::string id_prefix(const api::Meta& meta) { return "job-" + meta.uid.substr(0, 18) + "-"; }

Plan desired(const api::SampleJob& job, const World& world, WallTime now) {
  Plan plan;
  const auto& finalizers = job.meta.finalizers;
  if (std::ranges::find(finalizers, finalizer_of(job)) != finalizers.end()) {
    plan.actions.emplace_back(DropFinalizer{});
  }
  if (job.meta.deleting()) return plan;
  Plan rest;
  if (!job.spec.schedule.empty()) {
    rest = desired_schedule(job, world, now);
  } else if (finished(job.status.phase) && !begins_again(job)) {
    rest = after_end(job, world, now);
  } else {
    api::SampleJobStatus status = job.status;
    if (begins_again(job)) {  // somebody has changed what it is to do
      status = {.left = job.status.left, .conditions = job.status.conditions};
      std::erase_if(status.conditions, [](const api::Condition& c) { return c.type == "Failed"; });
    }
    // What runs was asked for by the spec of then.
    if (status.job_name.empty()) status.observed_generation = job.meta.generation;
    rest = status.job_name.empty() ? wait_or_begin(job, world, std::move(status), now)
                                   : go_on(job, world, std::move(status), now);
  }
  plan.requeue_after = rest.requeue_after;
  for (Action& action : rest.actions) plan.actions.push_back(std::move(action));
  return plan;
}

}  // namespace paddle::controllers::sample_jobs
