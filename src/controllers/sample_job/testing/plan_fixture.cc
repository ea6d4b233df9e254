// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/testing/plan_fixture.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/match.h"

namespace paddle::controllers::sample_job {

using runtime::JobState;

api::SampleJob job_of(const std::string& type) {
  api::SampleJob job;
  job.meta.key = {"ns", "job"};
  job.meta.uid = "0f5e2f6c-1111-2222-3333-444455556666";
  job.meta.generation = 1;
  job.meta.created = kNow;
  job.spec.type = type;
  job.spec.sample_set = api::LocalReference{.name = "imagenet"};
  if (type == "rmr") job.spec.rmr = api::RmrOptions{.paths = {"/train"}};
  return job;
}

api::SampleSet set_of(int partitions, const std::string& phase) {
  api::SampleSet set;
  set.meta.key = {"ns", "imagenet"};
  set.spec.partitions = partitions;
  set.spec.source = api::SampleSource{.uri = "s3://bucket/imagenet"};
  set.status.phase = phase;
  return set;
}

World world_of(int partitions, bool shares_volume) {
  World world{.set = set_of(partitions), .shares_volume = shares_volume};
  for (int i = 0; i < partitions; ++i) {
    world.reports.push_back({.partition = i, .node = "node" + std::to_string(i)});
  }
  return world;
}

bool is_empty(const Plan& plan) { return plan.waves.empty() && !plan.status; }

std::vector<Action> actions_of(const Plan& plan) {
  std::vector<Action> all;
  for (const Plan::Wave& wave : plan.waves) all.insert(all.end(), wave.begin(), wave.end());
  return all;
}

std::size_t JobModel::execute(const Plan& plan, std::size_t writes) {
  const Match execute_one{
      [&](const PutJob& put) {
        EXPECT_EQ(put.id, job.status.job_name) << "requested before it was stored";
        requested.push_back(std::to_string(put.partition) + ":" + put.id);
        auto& known = report(put.partition).job;
        if (known && known->id == put.id) return;  // a runtime takes it for the one it has
        known = runtime::JobReport{.id = put.id, .kind = put.request.kind};
      },
      [&](const CancelJob& cancel) {
        cancelled.push_back(std::to_string(cancel.partition) + ":" + cancel.id);
        if (auto& known = report(cancel.partition).job) known->state = JobState::kCancelled;
      },
      [&](const MarkSyncComplete& complete) { completed.push_back(complete.id); },
      [&](const DeleteJob&) { deleted = true; },
      [&](const EmitEvent& event) { events.push_back(event.reason); },
      [&](const auto&) {},
  };
  for (const Action& action : actions_of(plan)) {
    if (writes == 0) return 0;
    --writes;
    std::visit(execute_one, action);
  }
  return writes;
}

Plan JobModel::pass(std::size_t writes) {
  Plan plan = desired(job, world, {}, now);
  const std::size_t left = execute(plan, writes);
  if (plan.status && left > 0) job.status = *plan.status;
  // A new id is one that no runtime knows.
  for (auto& each : world.reports) {
    if (each.job && each.job->id != job.status.job_name) each.job.reset();
  }
  seen.push_back(job);
  return plan;
}

void JobModel::pass_late(std::size_t passes_ago, int times) {
  const api::SampleJob old =
      passes_ago == 0 || seen.empty() ? job : seen[seen.size() - std::min(passes_ago, seen.size())];
  World observed = world;
  for (PartitionReport& each : observed.reports) {
    if (each.job && each.job->id != old.status.job_name) each.job.reset();
  }
  const Plan plan = desired(old, observed, {}, now);
  for (; times > 0; --times) {
    execute(plan, static_cast<std::size_t>(-1));
    if (plan.status && old == job) job.status = *plan.status;
  }
  seen.push_back(job);
}

void JobModel::settle() {
  for (int i = 0; i < 20; ++i) {
    if (is_empty(pass())) return;
  }
  ADD_FAILURE() << "does not settle";
}

PartitionReport& JobModel::report(int partition) {
  return world.reports.at(static_cast<size_t>(partition));
}

void JobModel::reports(int partition, JobState state, const std::string& error) {
  report(partition).job->state = state;
  report(partition).job->error = error;
}

void JobModel::finishes_part(int partition, const std::string& cut) {
  reports(partition, JobState::kSucceeded);
  report(partition).job->progress.cut = cut;
}

std::string JobModel::reason(const char* type) const {
  const auto* found = api::find_condition(job.status.conditions, type);
  return found ? found->reason : "(none)";
}

std::string JobModel::message(const char* type) const {
  const auto* found = api::find_condition(job.status.conditions, type);
  return found ? found->message : "(none)";
}

JobModel divided_sync() {
  JobModel model{.job = job_of("sync"), .world = world_of(3, true)};
  model.settle();
  return model;
}

}  // namespace paddle::controllers::sample_job
