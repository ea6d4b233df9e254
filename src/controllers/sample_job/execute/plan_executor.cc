// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/execute/plan_executor.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/match.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/spec/job_type.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_job {

namespace kinds = kube::resources;

Result<ExecutionResult> PlanExecutor::execute(const Plan& plan, const api::SampleJob& job,
                                              const World& world, const kube::Call& call) {
  Pass pass{.job = job, .world = world, .call = call};
  for (const Plan::Wave& wave : plan.waves) {
    for (const Action& action : wave) {
      if (pass.blocked && !std::holds_alternative<CancelJob>(action)) continue;
      CHECK_DONE(execute(action, pass));
    }
  }
  if (pass.blocked) return std::move(pass.result);
  if (plan.writes_status()) CHECK_DONE(write_status(*plan.status, pass));
  return std::move(pass.result);
}

Result<> PlanExecutor::execute(const Action& action, Pass& pass) {
  const auto remove = [&](const api::ObjectKey& key, const std::string& uid) {
    return writer_.remove(kinds::kSampleJobs, key, uid, pass.call);
  };
  return std::visit(
      Match{
          [&](const PutJob& a) { return put_job(a, pass); },
          [&](const CancelJob& a) { return cancel_job(a, pass); },
          [&](const MarkSyncComplete& a) { return mark_sync_complete(a, pass); },
          [&](const CreateRun& a) { return create_run(a, pass); },
          [&](const DeleteRun& a) { return remove(a.key, a.uid); },
          [&](const DeleteJob&) { return remove(pass.job.meta.key, pass.job.meta.uid); },
          [&](const RemoveFinalizer& a) { return remove_finalizer(a, pass); },
          [&](const EmitEvent& a) { return emit(a, pass); },
      },
      action);
}

// ---- runtimes ----

Result<engine::SourceKeys> PlanExecutor::source_keys(const api::SampleJob& job,
                                                     const api::SampleSet& set,
                                                     const kube::Call& call) {
  engine::SourceKeys keys;
  if (!job_type(job.spec.type).needs_source_keys || !job.spec.secret) return keys;
  const bool of_source = set.spec.source && set.spec.source->secret;
  const auto& own = of_source ? set.spec.source->secret : set.spec.secret;
  if (own && own->name == job.spec.secret->name) return keys;  // the runtimes have it already
  auto secret = cluster_.get(kinds::kSecrets, {job.meta.key.ns, job.spec.secret->name}, call);
  if (secret.is(Code::kNotFound) && may_be_missing(*job.spec.secret)) return keys;
  if (!secret) return std::move(secret).error();
  for (auto& [name, text] : runtime::secret_values(*secret)) {
    if (std::ranges::find(engine::kSourceKeyNames, name) == engine::kSourceKeyNames.end()) continue;
    // `echo value | base64` leaves a newline.
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    if (!text.empty()) keys.values[name] = std::move(text);
  }
  return keys;
}

Result<> PlanExecutor::put_job(const PutJob& action, Pass& pass) {
  const PartitionReport* known = runtime_jobs::report_of(pass.world.reports, action.partition);
  PartitionReport report{.partition = action.partition, .node = known ? known->node : ""};
  runtime::JobRequest request = action.request;
  auto keys = source_keys(pass.job, *pass.world.set, pass.call);
  if (keys.is(Code::kNotFound)) {
    report.error = "waiting for secret " + pass.job.spec.secret->name +
                   "; create it in namespace " + pass.job.meta.key.ns;
    pass.result.rejected[action.partition] = std::move(report);
    return Done{};
  }
  if (!keys) return std::move(keys).error().in("read the source's secret");
  request.sync.keys = *std::move(keys);
  const auto taken = observer_.send(pass.job, *pass.world.set, action.partition, action.id,
                                    std::move(request), pass.call);
  if (!taken) pass.result.waits = true;
  if (!taken || *taken) return Done{};
  const Error& error = taken->error();
  if (error.code == Code::kInvalid || error.code == Code::kConflict) {  // rejected again and again
    report.job = runtime::JobReport{.id = action.id,
                                    .kind = action.request.kind,
                                    .state = runtime::JobState::kFailed,
                                    .error = error.message};
    pass.result.rejected[action.partition] = std::move(report);
    return Done{};
  }
  pass.result.job_unsent = true;
  log::info("a runtime did not accept a job", {{"job", to_string(pass.job.meta.key)},
                                               {"partition", action.partition},
                                               {"reason", error.message}});
  return Done{};
}

// What a runtime that does not run may still have is found by the check for orphaned jobs.
Result<> PlanExecutor::cancel_job(const CancelJob& action, Pass& pass) {
  if (!pass.world.set) return Done{};
  auto cancelled = observer_.send(pass.job, *pass.world.set, action.partition, action.id,
                                  std::nullopt, pass.call);
  if (!cancelled) {
    pass.result.waits = pass.blocked = true;
    return Done{};
  }
  if (*cancelled || cancelled->is(Code::kNotFound)) return Done{};
  return std::move(*cancelled)
      .error()
      .in("cancel at partition " + std::to_string(action.partition));
}

Result<> PlanExecutor::mark_sync_complete(const MarkSyncComplete& action, Pass& pass) {
  if (!pass.world.set) return Error{Code::kUnavailable, "mark a sync as complete: no sampleset"};
  runtime::JobRequest request{.kind = runtime::JobKind::kSync};
  request.sync.counts = true;
  auto taken =
      observer_.send(pass.job, *pass.world.set, 0, action.id, std::move(request), pass.call);
  if (!taken) {
    pass.result.waits = pass.blocked = true;
    return Done{};
  }
  if (*taken) return Done{};
  return Error{Code::kUnavailable, "mark a sync as complete: " + taken->error().message};
}

// ---- API server ----

Result<> PlanExecutor::create_run(const CreateRun& action, Pass& pass) {
  const api::ObjectKey& key = action.run.meta.key;
  auto stored = cluster_.create(kinds::kSampleJobs, api::encode(action.run), pass.call);
  if (stored.is(Code::kAlreadyExists)) {
    auto existing = cluster_.get(kinds::kSampleJobs, key, pass.call);
    if (!existing) return std::move(existing).error().in("read run " + key.name);
    TRY(const api::Meta meta, api::decode_meta(*existing));
    const auto* owner = meta.controller();
    if (owner && owner->uid == pass.job.meta.uid) return Done{};
    return emit({true, event_reason::kNameTaken,
                 "samplejob " + key.name + " already exists and is not a run of this schedule"},
                pass);
  }
  if (!stored) return std::move(stored).error().in("create run " + key.name);
  observer_.acknowledge(*stored);
  return emit({false, event_reason::kCreateRunSuccessfully, "created samplejob " + key.name}, pass);
}

Result<> PlanExecutor::remove_finalizer(const RemoveFinalizer& action, Pass& pass) {
  TRY(const auto stored,
      writer_.remove_finalizer(kinds::kSampleJobs, pass.job.meta, action.finalizer, pass.call));
  if (!stored) return Done{};
  observer_.acknowledge(*stored);
  TRY(pass.job, api::decode_sample_job(*stored));  // the status is written to this version
  return Done{};
}

Result<> PlanExecutor::emit(const EmitEvent& event, const Pass& pass) {
  writer_.emit(kinds::kSampleJobs, pass.job.meta, event);
  return Done{};
}

Result<> PlanExecutor::write_status(const api::SampleJobStatus& status, Pass& pass) {
  api::SampleJob changed = pass.job;
  changed.status = status;
  TRY(const auto stored, writer_.write_status(kinds::kSampleJobs, api::encode(changed), pass.call));
  if (!stored) return Done{};  // it has been deleted
  observer_.acknowledge(*stored);
  observer_.status_written(pass.job.meta.key);
  pass.result.status_written = true;
  return Done{};
}

}  // namespace paddle::controllers::sample_job
