// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/plan_executor.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "controllers/loop/rejection.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/objects/owned_objects.h"

namespace paddle::controllers::sample_set {
namespace {

// Other errors than rejections of these actions do not end the pass: no other action depends on
// them, and they depend on none.
bool is_independent(const Action& action) {
  return std::holds_alternative<LabelNode>(action) || std::holds_alternative<PutJob>(action) ||
         std::holds_alternative<CancelJob>(action) ||
         std::holds_alternative<ReplaceRuntime>(action) ||
         std::holds_alternative<SetOwners>(action);
}

void add_rejection(const Action& action, const std::string& message, Rejections& rejections) {
  const auto* create = std::get_if<CreateObject>(&action);
  if (!create) {
    rejections.writes.push_back(message);
  } else if (!rejections.creation) {
    rejections.creation =
        BlockReason{event_reason::create_failed(kind_name(create->kind)), message};
  }
}

bool has_event(const Plan& plan, const EmitEvent& event) {
  return std::ranges::any_of(plan.waves, [&](const Plan::Wave& wave) {
    return std::ranges::find(wave, Action(event)) != wave.end();
  });
}

// One execution of one plan.
class Execution {
 public:
  Execution(ActionExecutor& actions, RejectedWrites& rejected, const Clock& clock,
            api::SampleSet& set, const World& world, const kube::Call& call)
      : actions_(actions),
        rejected_(rejected),
        clock_(clock),
        set_(set),
        world_(world),
        call_(call),
        outcome_{.rejections = world.rejections} {}

  Result<PlanExecutor::Outcome> run(const Plan& plan) {
    for (const Plan::Wave& wave : plan.waves) {
      for (const Action& action : wave) {
        CHECK_DONE(run(action));
        if (outcome_.conflict) return outcome_;
      }
    }
    if (plan.writes_status() && outcome_.rejections.empty()) {
      CHECK_DONE(actions_.write_status(*plan.status, set_, call_));
    }
    rejected_.keep_only(set_.meta, rejected_actions_);
    // The queue does not repeat a pass that ends with kInvalid.
    if (outcome_.failure && outcome_.failure->code == Code::kInvalid) outcome_.failure.reset();
    return outcome_;
  }

 private:
  Result<> run(const Action& action) {
    // A volume is the record of what is left of a deleted set: it stays until the rest succeeded.
    const auto* removal = std::get_if<DeleteObject>(&action);
    if (removal && removal->kind == OwnedKind::kVolume && outcome_.failure) return Done{};
    // The labels of one node are ordered: one of them shows whose the other is.
    const auto* label = std::get_if<LabelNode>(&action);
    if (label && unlabelled_.contains(label->node)) return Done{};
    if (const auto message = rejected_.waits(set_.meta, action, clock_.boot())) {
      rejected_actions_.push_back(action);
      if (label) unlabelled_.insert(label->node);
      add_rejection(action, *message, outcome_.rejections);
      return Done{};
    }
    auto executed = actions_.execute(action, set_, world_, call_);
    if (executed) {
      outcome_.conflict = std::move(executed->conflict);
      if (executed->waits) keep_cancellation(action);
      return Done{};
    }
    if (label && !executed.is(Code::kCancelled)) unlabelled_.insert(label->node);
    return handle(action, std::move(executed).error());
  }

  Result<> handle(const Action& action, Error error) {
    if (error.code == Code::kCancelled) return error;
    if (is_write(action) && is_rejection(error)) {
      log::warn("write rejected by the API server; continuing with the rest",
                {{"sampleset", to_string(set_.meta.key)}, {"error", error.message}});
      rejected_.add(set_.meta, action, error.message, clock_.boot());
      rejected_actions_.push_back(action);
      add_rejection(action, error.message, outcome_.rejections);
      return Done{};
    }
    if (!is_independent(action)) return error;
    if (error.code == Code::kForbidden || error.code == Code::kInvalid) {
      add_rejection(action, error.message, outcome_.rejections);
    }
    keep_cancellation(action);
    if (!outcome_.failure) outcome_.failure = std::move(error);
    return Done{};
  }

  // The status goes on to name a job that is not known to be cancelled.
  void keep_cancellation(const Action& action) {
    if (const auto* cancel = std::get_if<CancelJob>(&action)) {
      outcome_.rejections.cancellations.emplace(cancel->partition, cancel->id);
    }
  }

  ActionExecutor& actions_;
  RejectedWrites& rejected_;
  const Clock& clock_;
  api::SampleSet& set_;
  const World& world_;
  const kube::Call& call_;
  PlanExecutor::Outcome outcome_;
  std::vector<Action> rejected_actions_{};
  std::set<std::string> unlabelled_{};  // nodes of which a label could not be changed
};

}  // namespace

Result<PlanExecutor::Outcome> PlanExecutor::execute(const Plan& plan, api::SampleSet& set,
                                                    const World& world, const kube::Call& call) {
  return Execution(actions_, rejected_, clock_, set, world, call).run(plan);
}

Result<> PlanExecutor::report(const Plan& next, const Plan& executed, api::SampleSet& set,
                              const World& world, const kube::Call& call) {
  for (const Plan::Wave& wave : next.waves) {
    for (const Action& action : wave) {
      const auto* event = std::get_if<EmitEvent>(&action);
      if (!event || has_event(executed, *event)) continue;
      CHECK_DONE(actions_.execute(action, set, world, call));
    }
  }
  if (!next.writes_status() || next.status == executed.status) return Done{};
  return actions_.write_status(*next.status, set, call);
}

}  // namespace paddle::controllers::sample_set
