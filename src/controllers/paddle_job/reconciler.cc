// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/reconciler.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "base/sync.h"
#include "controllers/loop/rejection.h"
#include "controllers/paddle_job/execute/plan_executor.h"
#include "controllers/paddle_job/observe/elastic_store.h"
#include "controllers/paddle_job/observe/reconcile_cache.h"
#include "controllers/paddle_job/observe/world_observer.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {
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

class Reconciler {
 public:
  Reconciler(const ControllerContext& context, const Options& options, const Clock& clock)
      : config_(options.config),
        etcd_(options.etcd),
        clock_(clock),
        queue_(context.queue),
        events_(context.events),
        observer_(context, options.ns, options.config),
        executor_(context.cluster, context.events, observer_) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto job = observer_.find(key);
    if (!job) {
      forget(key, stop);  // deleted since it was queued
      return ReconcileResult{};
    }
    Pass pass{.cache = cache_.of(key), .call = {.stop = stop}};
    if (const auto wait = too_soon(*job, pass.cache)) return ReconcileResult{wait};
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
    JobCache& cache;
    kube::Call call{};
    std::optional<BlockReason> trouble{};
    std::optional<Error> etcd_error{};
    std::optional<std::chrono::nanoseconds> again{};  // what the plan that was refused waits for
    bool np_kept = false;
    bool cleaned = false;  // etcd, in this pass
  };
  // A plan with the job that it is for; no job: it is gone.
  struct Planned {
    std::shared_ptr<const api::PaddleJob> job{};
    Plan plan{};
    bool not_yet = false;  // an informer has only just begun
  };

  std::optional<std::chrono::nanoseconds> too_soon(const api::PaddleJob& job,
                                                   JobCache& cache) const {
    const BootTime now = clock_.boot();
    const int pods = total_replicas(job.spec);
    if (pods >= kBigJob && cache.last_pass && now < *cache.last_pass + pods * kPacePerPod) {
      return *cache.last_pass + pods * kPacePerPod - now;
    }
    cache.last_pass = now;
    return std::nullopt;
  }

  Result<ReconcileResult> work(const ObjectKey& key, Pass& pass) {
    for (int round = 0; round < kRounds; ++round) {
      TRY(Planned planned, plan_round(key, pass));
      if (planned.not_yet) return ReconcileResult{kInformerBegins};
      if (!planned.job) return ReconcileResult{};
      const api::PaddleJob& job = *planned.job;
      const Plan& plan = planned.plan;
      if (plan.status_first) {
        CHECK_DONE(executor_.set_status(*plan.status, job, pass.call));
        pass.cache.status_pending_since.reset();
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
        if (auto done = executor_.execute(wave, job, pass.cache, pass.call); !done) {
          return report_failure(key, std::move(done).error(), pass);
        }
      }
    }
    return ReconcileResult{1s};
  }

  Result<Planned> plan_round(const ObjectKey& key, Pass& pass) {
    TRY(Planned planned, make_plan(key, pass));
    if (!planned.job) return planned;
    // Pods may go before the status is stored.
    pass.cache.last_completed =
        completed_indexes_of(planned.plan.status ? *planned.plan.status : planned.job->status);
    pass.cache.last_completed_uid = planned.job->meta.uid;
    return planned;
  }

  Result<Planned> make_plan(const ObjectKey& key, Pass& pass) {
    Planned planned{.job = observer_.find(key)};
    if (!planned.job) return planned;
    TRY(std::optional<World> world, observer_.observe(*planned.job, pass.cache, pass.call));
    if (!world) return Planned{.not_yet = true};
    if (pass.trouble) world->trouble = pass.trouble;
    if (pass.cache.last_completed_uid == planned.job->meta.uid)
      world->last_completed = pass.cache.last_completed;
    world->etcd_is_clean = !etcd_ || pass.cache.etcd_cleaned_uid == planned.job->meta.uid;
    planned.plan = desired(*planned.job, *world, clock_.wall(), config_);
    if (!planned.plan.nodes_to_check.empty()) {
      CHECK_DONE(observer_.read_node_leases(planned.plan.nodes_to_check, *world, pass.call));
      planned.plan = desired(*planned.job, *world, clock_.wall(), config_);
    }
    if (!planned.plan.confirm) return planned;
    auto now = observer_.confirm(*planned.job, *world, pass.call);
    if (now.is(Code::kNotFound)) return Planned{};
    if (!now) return std::move(now).error();
    planned.job = std::make_shared<const api::PaddleJob>(*std::move(now));
    planned.plan = desired(*planned.job, *world, clock_.wall(), config_);
    return planned;
  }

  // Nothing more to do: what is there to say, and when to look again?
  Result<ReconcileResult> conclude(const api::PaddleJob& job, const Plan& plan, Pass& pass) {
    std::optional<std::chrono::nanoseconds> again = time_until(plan.again_at);
    if (!plan.status) {
      pass.cache.status_pending_since.reset();
    } else if (const auto wait = may_wait(job, plan, pass.cache)) {
      again = again ? std::min(*again, *wait) : *wait;
    } else {
      CHECK_DONE(executor_.set_status(*plan.status, job, pass.call));
      pass.cache.status_pending_since.reset();
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
                                                   JobCache& cache) const {
    const auto limit = patience(job, plan);
    if (!limit) return std::nullopt;
    const BootTime now = clock_.boot();
    if (!cache.status_pending_since) cache.status_pending_since = now;
    const auto left = *cache.status_pending_since + *limit - now;
    return left > 0ns ? std::optional(left) : std::nullopt;
  }

  // What the server would not let us do is said in the status before it is tried again.
  Result<ReconcileResult> report_failure(const ObjectKey& key, Error error, Pass& pass) {
    pass.trouble = trouble_of(error);
    if (error.code == Code::kAlreadyExists && pass.cache.name_conflict) {
      pass.trouble = pass.cache.name_conflict;
    }
    if (!pass.trouble) return error;
    TRY(const Planned planned, plan_round(key, pass));
    const Plan& plan = planned.plan;
    pass.again = time_until(plan.again_at);
    if (planned.job && plan.status && plan.status_is_news) {
      CHECK_DONE(executor_.set_status(*plan.status, *planned.job, pass.call));
    }
    return error;
  }

  // A job of this name may have left something behind: "the work is done" among it.
  void clean_etcd(const api::PaddleJob& job, Pass& pass) {
    if (auto clean = forget_elastic(*etcd_, job.meta.key, pass.call.stop); !clean) {
      return blame_etcd(std::move(clean).error().in("clean etcd"), pass);
    }
    pass.cache.etcd_cleaned_uid = job.meta.uid;
    pass.cleaned = true;
  }

  static void blame_etcd(Error error, Pass& pass) {
    pass.trouble = BlockReason{"EtcdUnavailable", error.message};
    pass.etcd_error = std::move(error);
  }

  void keep_np(const api::PaddleJob& job, const Plan& plan, Pass& pass) {
    if (!plan.keep_np || plan.clean_etcd || !etcd_ || pass.np_kept) return;
    pass.np_kept = true;
    auto kept = paddle_job::keep_np(*etcd_, job, pass.call.stop);
    if (!kept) {
      return blame_etcd(std::move(kept).error().in("tell etcd the number of trainers"), pass);
    }
    pass.cache.has_etcd_keys = true;
    if (*kept && !job.status.phase.empty() && !pass.cleaned) {
      executor_.emit(
          job, kube::EventKind::kNormal, "Scaled",
          "scaled replicas to " + std::to_string(replicas_of(job.spec, RoleKind::kWorker)));
    }
  }

  void forget_np(const ObjectKey& key, Pass& pass) {
    if (!etcd_) return;
    if (auto done = forget_elastic(*etcd_, key, pass.call.stop); !done) {
      log::warn("etcd keeps keys of a job that has ended",
                {{"paddlejob", to_string(key)}, {"error", done.error().message}});
    }
    pass.cache.has_etcd_keys = false;
  }

  void forget(const ObjectKey& key, std::stop_token stop) {
    JobCache cache = cache_.forget(key);
    Pass pass{.cache = cache, .call = {.stop = stop}};
    if (cache.has_etcd_keys) forget_np(key, pass);
  }

  const Config config_;
  const std::shared_ptr<etcd::Store> etcd_;
  const Clock& clock_;
  const WorkQueue& queue_;
  kube::EventRecorder& events_;
  WorldObserver observer_;
  PlanExecutor executor_;
  ReconcileCache cache_;
  std::atomic<BootTime> rush_until_{BootTime::min()};
  Mutex ports_;  // held while a job chooses its host ports and stores them
};

}  // namespace

Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock) {
  auto reconciler = std::make_shared<Reconciler>(context, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers::paddle_job
