// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/reconciler.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/match.h"
#include "controllers/loop/rejection.h"
#include "controllers/sample_job/observe/world_observer.h"
#include "controllers/sample_job/plan.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr std::chrono::milliseconds kLook{10'000};
constexpr int kRounds = 4;
constexpr auto kAskAgain = 2s;
constexpr auto kSweepAgain = 30s;

class SampleJobReconciler {
 public:
  SampleJobReconciler(const ControllerContext& context, const Options& options, const Clock& clock)
      : cluster_(context.cluster),
        events_(context.events),
        options_(options),
        clock_(clock),
        observer_(context, options) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.timeout = kLook, .stop = stop};
    if (key.name.starts_with(kSetKey)) {
      const ObjectKey set{key.ns, key.name.substr(std::string_view(kSetKey).size())};
      auto outcome = sweep(set, call);
      if (!outcome) return std::move(outcome).error().in("jobs of sampleset " + to_string(set));
      return outcome;
    }
    auto outcome = requeue_rejected(drive(key, call), "samplejob " + to_string(key));
    if (!outcome) return std::move(outcome).error().in("samplejob " + to_string(key));
    return outcome;
  }

 private:
  // What one pass is about.
  struct Pass {
    api::SampleJob job{};
    World world{};
    kube::Call call{};
    bool stored = false;   // the status has changed: decide again at once
    bool in_vain = false;  // a runtime could not be told
    bool asked = false;    // a runtime has been told to do something
    // What became of requests that it makes no sense to repeat as they are.
    std::map<int, PartitionReport> refused{};
  };

  Result<ReconcileResult> drive(const ObjectKey& key, const kube::Call& call) {
    ReconcileResult outcome;
    std::map<int, PartitionReport> refused;
    for (int round = 0; round < kRounds; ++round) {
      const auto job = observer_.find(key);
      if (!job) return ReconcileResult{};
      Pass pass{.job = *job, .call = call};
      TRY(pass.world, observer_.world_of(*job, call));
      for (PartitionReport& answer : pass.world.reports) {
        if (refused.contains(answer.partition)) answer = refused[answer.partition];
      }
      const Plan plan = desired(*job, pass.world, clock_.wall());
      for (const Action& action : plan.actions) CHECK_DONE(carry_out(action, pass));
      outcome = {.requeue_after = plan.requeue_after};
      // Deleted meanwhile: whoever has swept up may have come before our request.
      const auto still = observer_.find(key);
      if (pass.asked && (!still || still->meta.uid != job->meta.uid)) {
        observer_.sweep_again(set_key_of(*job));
      }
      if (!pass.refused.empty()) {
        refused = std::move(pass.refused);
        continue;  // so that the status says it
      }
      if (pass.in_vain) return ReconcileResult{.requeue_after = kAskAgain};
      // An id that has been stored may be used now.
      if (!pass.stored || plan.requeue_after != std::chrono::nanoseconds(0)) return outcome;
    }
    return outcome;
  }

  // ---- acting ----

  Result<> carry_out(const Action& action, Pass& pass) {
    return std::visit(Match{
                          [&](const PutJob& a) { return put(a, pass); },
                          [&](const CancelJob& a) { return cancel(a, pass); },
                          [&](const MarkSyncComplete& a) { return count(a, pass); },
                          [&](const SetStatus& a) { return set_status(a, pass); },
                          [&](const DeleteJob&) { return remove(pass.job, pass.call); },
                          [&](const CreateRun& a) { return create(a, pass); },
                          [&](const DeleteRun& a) {
                            return remove({.meta = {.key = a.key, .uid = a.uid}}, pass.call);
                          },
                          [&](const RemoveFinalizer&) { return drop_finalizer(pass); },
                          [&](const EmitEvent& a) { return tell(a, pass); },
                      },
                      action);
  }

  std::unique_ptr<runtime::RuntimeClient> runtime_of(int partition, Pass& pass) {
    if (!pass.world.set) return nullptr;
    const auto access = observer_.access_to(*pass.world.set, pass.call);
    if (!access || !*access) return nullptr;
    for (const RuntimeEndpoint& endpoint : observer_.endpoints(*pass.world.set)) {
      if (endpoint.partition == partition)
        return observer_.runtime_at(endpoint, *pass.world.set, **access);
    }
    return nullptr;
  }

  // A runtime that can not take it now is asked again; the others are not held up. One that says
  // that the request itself is wrong would say so again.
  Result<> put(const PutJob& a, Pass& pass) {
    const PartitionReport* seen = runtime_jobs::report_of(pass.world.reports, a.partition);
    PartitionReport answer{.partition = a.partition, .node = seen ? seen->node : ""};
    runtime::JobRequest request = a.request;
    auto keys = observer_.keys_for(pass.job, *pass.world.set, pass.call);
    if (keys.is(Code::kNotFound)) {
      answer.error = "waiting for the secret " + pass.job.spec.secret->name +
                     "; create it in the namespace " + pass.job.meta.key.ns;
      pass.refused[a.partition] = std::move(answer);
      return Done{};
    }
    if (!keys) return std::move(keys).error().in("read the secret of the source");
    request.sync.keys = *std::move(keys);
    const auto runtime = runtime_of(a.partition, pass);
    pass.asked = true;
    auto report = runtime ? runtime->put_job(a.id, request, pass.call.stop)
                          : Result<runtime::JobReport>(Error{Code::kUnavailable, "it is away"});
    if (report) return Done{};
    if (report.is(Code::kInvalid) || report.is(Code::kConflict)) {
      answer.job = runtime::JobReport{.id = a.id,
                                      .kind = request.kind,
                                      .state = runtime::JobState::kFailed,
                                      .error = report.error().message};
      pass.refused[a.partition] = std::move(answer);
      return Done{};
    }
    pass.in_vain = true;
    log::info("a runtime does not take a job", {{"job", to_string(pass.job.meta.key)},
                                                {"partition", a.partition},
                                                {"reason", report.error().message}});
    return Done{};
  }

  Result<> count(const MarkSyncComplete& a, Pass& pass) {
    const auto runtime = runtime_of(0, pass);
    if (!runtime) return Error{Code::kUnavailable, "the first runtime is away"};
    runtime::JobRequest request{.kind = runtime::JobKind::kSync};
    request.sync.counts = true;
    auto report = runtime->put_job(a.id, request, pass.call.stop);
    if (!report) return std::move(report).error().in("count a sync");
    return Done{};
  }

  // Best effort: what stays behind is swept up.
  Result<> cancel(const CancelJob& a, Pass& pass) {
    const auto runtime = runtime_of(a.partition, pass);
    if (!runtime) return Done{};
    if (auto done = runtime->cancel(a.id, pass.call.stop); !done) {
      return std::move(done).error().in("cancel at partition " + std::to_string(a.partition));
    }
    return Done{};
  }

  Result<> set_status(const SetStatus& a, Pass& pass) {
    api::SampleJob changed = pass.job;
    changed.status = a.status;
    auto stored = cluster_.update(kinds::kSampleJobs, api::encode(changed), "status", pass.call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("write status");
    observer_.acknowledge(*stored);
    pass.stored = true;
    return Done{};
  }

  Result<> create(const CreateRun& a, Pass& pass) {
    auto stored = cluster_.create(kinds::kSampleJobs, api::encode(a.run), pass.call);
    if (stored.is(Code::kAlreadyExists)) {
      auto there = cluster_.get(kinds::kSampleJobs, a.run.meta.key, pass.call);
      if (!there) return std::move(there).error().in("read run " + a.run.meta.key.name);
      TRY(const api::Meta meta, api::decode_meta(*there));
      const auto* owner = meta.controller();
      if (owner && owner->uid == pass.job.meta.uid) return Done{};
      return tell({true, "NameTaken",
                   "a samplejob named " + a.run.meta.key.name +
                       " is there already and belongs to somebody else"},
                  pass);
    }
    if (!stored) return std::move(stored).error().in("create run " + a.run.meta.key.name);
    observer_.acknowledge(*stored);
    return tell({false, "CreateRunSuccessfully", "created samplejob " + a.run.meta.key.name}, pass);
  }

  Result<> remove(const api::SampleJob& job, const kube::Call& call) {
    auto removed = cluster_.remove(kinds::kSampleJobs, job.meta.key, {.uid = job.meta.uid}, call);
    if (removed.is(Code::kNotFound) || removed.is(Code::kConflict)) removed = Done{};
    if (!removed) return std::move(removed).error().in("delete " + job.meta.key.name);
    return Done{};
  }

  Result<> drop_finalizer(Pass& pass) {
    auto left = pass.job.meta.finalizers;
    std::erase(left, finalizer_of(pass.job));
    const kube::Patch patch{
        .body = {{"metadata",
                  {{"resourceVersion", pass.job.meta.resource_version}, {"finalizers", left}}}}};
    auto stored = cluster_.patch(kinds::kSampleJobs, pass.job.meta.key, patch, {}, pass.call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("drop the finalizer");
    if (pass.job.meta.deleting()) return Done{};  // perhaps that was its end
    observer_.acknowledge(*stored);
    TRY(pass.job, api::decode_sample_job(*stored));
    return Done{};
  }

  Result<> tell(const EmitEvent& a, const Pass& pass) {
    events_.event({.api_version = api::SampleJob::kApiVersion,
                   .kind = api::SampleJob::kKind,
                   .key = pass.job.meta.key,
                   .uid = pass.job.meta.uid},
                  a.warning ? kube::EventKind::kWarning : kube::EventKind::kNormal, a.reason,
                  a.message);
    return Done{};
  }

  // ---- jobs that are gone ----

  // What runtimes still do for jobs that nobody has any more is cancelled.
  Result<ReconcileResult> sweep(const ObjectKey& key, const kube::Call& call) {
    const auto set = observer_.set_of(key);
    if (!set || set->meta.deleting() || !observer_.needs_sweep(key)) return ReconcileResult{};
    TRY(const auto access, observer_.access_to(*set, call));
    if (!access) return ReconcileResult{};
    std::optional<std::vector<std::string>> wanted;
    const auto endpoints = observer_.endpoints(*set);
    bool all = static_cast<int>(endpoints.size()) >= set->spec.effective_partitions();
    for (const RuntimeEndpoint& endpoint : endpoints) {
      const auto runtime = observer_.runtime_at(endpoint, *set, *access);
      const auto known = runtime->jobs(call.stop);
      all = all && known;
      if (!known) continue;
      for (const runtime::JobReport& job : *known) {
        if (runtime::ended(job.state) || !job.id.starts_with("job-")) continue;
        if (!wanted) {
          TRY(wanted, prefixes(key.ns, call));
        }
        const bool has_owner = std::ranges::any_of(
            *wanted, [&](const std::string& prefix) { return job.id.starts_with(prefix); });
        if (has_owner) continue;
        log::info("cancels what nobody wants any more", {{"id", job.id}, {"set", to_string(key)}});
        CHECK_DONE(runtime->cancel(job.id, call.stop));
        events_.event({.api_version = api::SampleSet::kApiVersion,
                       .kind = api::SampleSet::kKind,
                       .key = key,
                       .uid = set->meta.uid},
                      kube::EventKind::kNormal, "CancelJobSuccessfully",
                      "cancelled " + to_string(job.kind) + " " + job.id + " at partition " +
                          std::to_string(endpoint.partition) + ": its samplejob was deleted");
      }
    }
    if (!all) return ReconcileResult{.requeue_after = kSweepAgain};
    observer_.swept(key);
    return ReconcileResult{};
  }

  // Asked of the server: our view may be behind.
  Result<std::vector<std::string>> prefixes(const std::string& ns, const kube::Call& call) {
    std::vector<std::string> found;
    CHECK_DONE(cluster_.list(
        kinds::kSampleJobs, {.ns = ns},
        [&](std::string_view text) -> Result<> {
          TRY(const Json object, api::parse_json(std::string(text)));
          TRY(const api::Meta meta, api::decode_meta(object));
          found.push_back(id_prefix(meta));
          return Done{};
        },
        call));
    return found;
  }

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  const Options options_;
  const Clock& clock_;
  WorldObserver observer_;
};

}  // namespace

Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock) {
  auto reconciler = std::make_shared<SampleJobReconciler>(context, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers::sample_job
