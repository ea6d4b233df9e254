// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/reconciler.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "base/sync.h"
#include "controllers/loop/rejection.h"
#include "controllers/paddle_job/elastic_sync.h"
#include "controllers/paddle_job/hand.h"
#include "controllers/paddle_job/job_view.h"
#include "controllers/paddle_job/memory.h"
#include "controllers/paddle_job/soonest.h"

namespace paddle::controllers {
namespace {

using api::ObjectKey;
using namespace std::chrono_literals;

// Plans that follow from each other in one pass: more than any job needs, fewer than a defect of
// ours could make of it.
constexpr int kRounds = 8;
constexpr auto kInformerBegins = 100ms;
// Each pod of a big job reports several times while it starts: looked at this often per pod, its
// passes cost about as much as those of a small one.
constexpr auto kPacePerPod = 200us;
constexpr int kBigJob = 50;
// Changes of counters and messages are told together.
constexpr auto kUnsaidWhileRunning = 5s;
constexpr auto kUnsaidWhileStarting = 15s;
// Until then an operator that dies takes the knowledge of a success along; mostly the others
// succeed as well by then, and the job is told to be complete instead.
constexpr auto kUnsaidSuccess = 1s;
// With so many jobs in work or in the queue, and for a moment afterwards, making pods goes before
// telling how it goes.
constexpr size_t kMany = 4;
constexpr auto kMoment = 1s;
constexpr auto kUnsaidInARush = 5s;
// No appointment is further away: the queue counts in nanoseconds, which a plan's times may exceed.
constexpr auto kFurthest = 24h;

// The user can do something about it, and has to know.
std::optional<BlockReason> trouble_of(const Error& error) {
  switch (error.code) {
    case Code::kForbidden:
      return BlockReason{"Refused", error.message};
    case Code::kInvalid:
      return BlockReason{"InvalidObject", error.message};
    case Code::kAlreadyExists:
      return BlockReason{"NameTaken", error.message};
    case Code::kInternal:  // a webhook that can not be called, say
      return BlockReason{"ServerError", error.message};
    default:
      return std::nullopt;
  }
}

class PaddleJobReconciler {
 public:
  PaddleJobReconciler(const ControllerContext& around, const PaddleJobOptions& options,
                      const Clock& clock)
      : setting_(options.setting),
        etcd_(options.etcd),
        clock_(clock),
        queue_(around.queue),
        events_(around.events),
        view_(around, options.ns, options.setting),
        hand_(around.cluster, around.events, view_) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto job = view_.find(key);
    if (!job) {
      forget(key, stop);  // deleted since it was queued
      return ReconcileResult{};
    }
    Pass pass{.memory = memories_.of(key), .call = {.stop = stop}};
    if (const auto wait = too_soon(*job, pass.memory)) return ReconcileResult{wait};
    if (many_at_once()) {
      rush_until_ = clock_.boot() + kMoment;
      events_.give_way(kMoment);
    }
    // Two jobs must not choose the same ports at the same time.
    std::optional<Lock> ports;
    if (on_host_network(job->spec) && remembered_port(*job) == 0) ports.emplace(ports_);
    Result<ReconcileResult> worked = work(key, pass);
    auto outcome = requeue_rejected(std::move(worked), "paddlejob " + to_string(key), pass.again);
    if (!outcome) return std::move(outcome).error().in("paddlejob " + to_string(key));
    return outcome;
  }

 private:
  struct Pass {
    JobMemory& memory;
    kube::Call call{};
    std::optional<BlockReason> trouble{};
    std::optional<Error> etcd_error{};
    std::optional<std::chrono::nanoseconds> again{};  // what the plan that was refused waits for
    bool np_kept = false;
    bool cleaned = false;  // etcd, in this pass
  };
  // A plan with the job that it is for; no job: it is gone.
  struct Decision {
    std::shared_ptr<const api::PaddleJob> job{};
    Plan plan{};
    bool not_yet = false;  // an informer has only just begun
  };

  std::optional<std::chrono::nanoseconds> too_soon(const api::PaddleJob& job,
                                                   JobMemory& memory) const {
    const BootTime now = clock_.boot();
    const int pods = total_replicas(job.spec);
    if (pods >= kBigJob && memory.looked_at && now < *memory.looked_at + pods * kPacePerPod) {
      return *memory.looked_at + pods * kPacePerPod - now;
    }
    memory.looked_at = now;
    return std::nullopt;
  }

  Result<ReconcileResult> work(const ObjectKey& key, Pass& pass) {
    for (int round = 0; round < kRounds; ++round) {
      TRY(Decision decision, decide(key, pass));
      if (decision.not_yet) return ReconcileResult{kInformerBegins};
      if (!decision.job) return ReconcileResult{};
      const api::PaddleJob& job = *decision.job;
      const Plan& plan = decision.plan;
      if (plan.status_first) {
        CHECK_DONE(hand_.set_status(*plan.status, job, pass.call));
        pass.memory.unsaid_since.reset();
        if (plan.forget_np) forget_np(job.meta.key, pass);
        continue;
      }
      if (plan.clean_etcd && !pass.etcd_error) {
        clean_etcd(job, pass);
        continue;  // with a plan that knows how it went
      }
      keep_np(job, plan, pass);
      if (plan.waves.empty()) return conclude(job, plan, pass);
      for (const Wave& wave : plan.waves) {
        if (auto done = hand_.carry_out(wave, job, pass.memory, pass.call); !done) {
          return explain(key, std::move(done).error(), pass);
        }
      }
    }
    return ReconcileResult{1s};
  }

  Result<Decision> decide(const ObjectKey& key, Pass& pass) {
    TRY(Decision decision, think(key, pass));
    if (!decision.job) return decision;
    // Pods may go before the status is stored.
    pass.memory.noticed =
        successes_in(decision.plan.status ? *decision.plan.status : decision.job->status);
    pass.memory.noticed_of = decision.job->meta.uid;
    return decision;
  }

  Result<Decision> think(const ObjectKey& key, Pass& pass) {
    Decision decision{.job = view_.find(key)};
    if (!decision.job) return decision;
    TRY(std::optional<World> world, view_.world_of(*decision.job, pass.memory, pass.call));
    if (!world) return Decision{.not_yet = true};
    if (pass.trouble) world->trouble = pass.trouble;
    if (pass.memory.noticed_of == decision.job->meta.uid) world->noticed = pass.memory.noticed;
    world->etcd_is_clean = !etcd_ || pass.memory.etcd_cleaned_for == decision.job->meta.uid;
    decision.plan = desired(*decision.job, *world, clock_.wall(), setting_);
    if (!decision.plan.ask_about.empty()) {
      CHECK_DONE(view_.ask_nodes(decision.plan.ask_about, *world, pass.call));
      decision.plan = desired(*decision.job, *world, clock_.wall(), setting_);
    }
    if (!decision.plan.confirm) return decision;
    auto now = view_.confirm(*decision.job, *world, pass.call);
    if (now.is(Code::kNotFound)) return Decision{};
    if (!now) return std::move(now).error();
    decision.job = std::make_shared<const api::PaddleJob>(*std::move(now));
    decision.plan = desired(*decision.job, *world, clock_.wall(), setting_);
    return decision;
  }

  // Nothing more to do: what is there to say, and when to look again?
  Result<ReconcileResult> conclude(const api::PaddleJob& job, const Plan& plan, Pass& pass) {
    std::optional<std::chrono::nanoseconds> again = time_until(plan.again_at);
    if (!plan.status) {
      pass.memory.unsaid_since.reset();
    } else if (const auto wait = may_wait(job, plan, pass.memory)) {
      again = again ? std::min(*again, *wait) : *wait;
    } else {
      CHECK_DONE(hand_.set_status(*plan.status, job, pass.call));
      pass.memory.unsaid_since.reset();
    }
    if (pass.etcd_error) return *pass.etcd_error;
    return ReconcileResult{again};
  }

  std::optional<std::chrono::nanoseconds> time_until(const std::optional<WallTime>& at) const {
    if (!at) return std::nullopt;
    return std::clamp<std::chrono::microseconds>(*at - clock_.wall(), 10ms, kFurthest);
  }

  bool many_at_once() const { return queue_.depth() + queue_.running() >= kMany; }
  bool in_a_rush() const { return clock_.boot() < rush_until_.load(); }

  // How long a status may stay unsaid; nothing: not at all.
  std::optional<std::chrono::nanoseconds> patience(const api::PaddleJob& job,
                                                   const Plan& plan) const {
    if (!plan.status_is_news && plan.status_remembers) return kUnsaidSuccess;
    if (!plan.status_is_news) {
      return job.status.phase == "Running" ? kUnsaidWhileRunning : kUnsaidWhileStarting;
    }
    if (plan.status_gives_way && in_a_rush()) return kUnsaidInARush;
    return std::nullopt;
  }

  std::optional<std::chrono::nanoseconds> may_wait(const api::PaddleJob& job, const Plan& plan,
                                                   JobMemory& memory) const {
    const auto limit = patience(job, plan);
    if (!limit) return std::nullopt;
    const BootTime now = clock_.boot();
    if (!memory.unsaid_since) memory.unsaid_since = now;
    const auto left = *memory.unsaid_since + *limit - now;
    return left > 0ns ? std::optional(left) : std::nullopt;
  }

  // What the server would not let us do is said in the status before it is tried again.
  Result<ReconcileResult> explain(const ObjectKey& key, Error error, Pass& pass) {
    pass.trouble = trouble_of(error);
    if (error.code == Code::kAlreadyExists && pass.memory.in_the_way) {
      pass.trouble = pass.memory.in_the_way;
    }
    if (!pass.trouble) return error;
    TRY(const Decision decision, decide(key, pass));
    const Plan& plan = decision.plan;
    pass.again = time_until(plan.again_at);
    if (decision.job && plan.status && plan.status_is_news) {
      CHECK_DONE(hand_.set_status(*plan.status, *decision.job, pass.call));
    }
    return error;
  }

  // A job of this name may have left something behind: "the work is done" among it.
  void clean_etcd(const api::PaddleJob& job, Pass& pass) {
    if (auto clean = forget_elastic(*etcd_, job.meta.key, pass.call.stop); !clean) {
      return blame_etcd(std::move(clean).error().in("clean etcd"), pass);
    }
    pass.memory.etcd_cleaned_for = job.meta.uid;
    pass.cleaned = true;
  }

  static void blame_etcd(Error error, Pass& pass) {
    pass.trouble = BlockReason{"EtcdUnavailable", error.message};
    pass.etcd_error = std::move(error);
  }

  void keep_np(const api::PaddleJob& job, const Plan& plan, Pass& pass) {
    if (!plan.keep_np || plan.clean_etcd || !etcd_ || pass.np_kept) return;
    pass.np_kept = true;
    auto kept = controllers::keep_np(*etcd_, job, pass.call.stop);
    if (!kept) {
      return blame_etcd(std::move(kept).error().in("tell etcd the number of trainers"), pass);
    }
    pass.memory.in_etcd = true;
    if (*kept && !job.status.phase.empty() && !pass.cleaned) {
      hand_.tell(job, kube::EventKind::kNormal, "Scaled",
                 "scaled replicas to " + std::to_string(replicas_of(job.spec, RoleKind::kWorker)));
    }
  }

  void forget_np(const ObjectKey& key, Pass& pass) {
    if (!etcd_) return;
    if (auto done = forget_elastic(*etcd_, key, pass.call.stop); !done) {
      log::warn("etcd keeps keys of a job that has ended",
                {{"paddlejob", to_string(key)}, {"error", done.error().message}});
    }
    pass.memory.in_etcd = false;
  }

  void forget(const ObjectKey& key, std::stop_token stop) {
    JobMemory memory = memories_.forget(key);
    Pass pass{.memory = memory, .call = {.stop = stop}};
    if (memory.in_etcd) forget_np(key, pass);
  }

  const Setting setting_;
  const std::shared_ptr<etcd::Store> etcd_;
  const Clock& clock_;
  const WorkQueue& queue_;
  kube::EventRecorder& events_;
  JobView view_;
  Hand hand_;
  JobMemories memories_;
  std::atomic<BootTime> rush_until_{BootTime::min()};
  Mutex ports_;  // held while a job chooses its host ports and stores them
};

}  // namespace

Reconcile make_paddle_job_reconciler(const ControllerContext& around,
                                     const PaddleJobOptions& options, const Clock& clock) {
  auto reconciler = std::make_shared<PaddleJobReconciler>(around, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers
