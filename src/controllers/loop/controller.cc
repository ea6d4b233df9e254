// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/controller.h"

#include <exception>

#include "base/log.h"

namespace paddle::controllers {
namespace {

using std::chrono::nanoseconds;

double in_seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Controller::Controller(ControllerOptions options, Reconcile reconcile, const Clock& clock,
                       Random& random, Metrics& metrics)
    : options_(std::move(options)),
      reconcile_(std::move(reconcile)),
      clock_(clock),
      seconds_(metrics.seconds("paddle_reconcile_seconds", "Duration of a pass.",
                               {{"controller", options_.name}})),
      queue_(options_.name, options_.limits, clock, random, metrics) {
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    outcomes_[i] = &metrics.counter(
        "paddle_reconcile_total", "Passes, by how they ended.",
        {{"controller", options_.name},
         {"outcome", std::string(controllers::name(static_cast<PassOutcome>(i)))}});
  }
}

Controller::~Controller() { stop(); }

void Controller::start() {
  Lock lock(mutex_);
  if (drained_ || !workers_.empty()) return;
  for (int i = 0; i < options_.workers; ++i) {
    workers_.emplace_back([this](std::stop_token stop) { work(stop); });
  }
}

void Controller::stop() {
  Lock lock(mutex_);
  for (auto& worker : workers_) worker.request_stop();
  workers_.clear();  // joins
}

bool Controller::drain(nanoseconds limit) {
  {
    Lock lock(mutex_);
    drained_ = true;
  }
  queue_.close();
  return queue_.wait_idle(limit);
}

bool Controller::cancel(nanoseconds limit) {
  {
    Lock lock(mutex_);
    for (auto& worker : workers_) worker.request_stop();
  }
  return queue_.wait_idle(limit);
}

void Controller::work(std::stop_token stop) {
  while (auto taken = queue_.take(stop)) pass(*taken, stop);
}

void Controller::pass(const QueueState::Taken& taken, std::stop_token stop) {
  const BootTime started = clock_.boot();
  Result<ReconcileResult> result = ReconcileResult{};
  bool panicked = true;
  try {
    result = reconcile_(taken.key, stop);
    panicked = false;
  } catch (const std::exception& thrown) {
    result = Error{Code::kInternal, std::string("threw: ") + thrown.what()};
  } catch (...) {
    result = Error{Code::kInternal, "threw something that is not an exception"};
  }
  seconds_.Observe(in_seconds(clock_.boot() - started));
  const PassOutcome outcome = give_back(taken, result, panicked, stop.stop_requested());
  outcomes_[static_cast<size_t>(outcome)]->Increment();
}

PassOutcome Controller::give_back(const QueueState::Taken& taken,
                                  const Result<ReconcileResult>& result, bool panicked,
                                  bool stopping) {
  const PassOutcome outcome = panicked ? PassOutcome::kPanicked : outcome_of(result);
  const std::string object = to_string(taken.key);
  switch (outcome) {
    case PassOutcome::kDone:
      queue_.finished(taken.key);
      log::debug("reconciled", {{"controller", options_.name}, {"object", object}});
      break;
    case PassOutcome::kAgain:
      queue_.again(taken.key, *result->requeue_after);
      log::debug("reconciled", {{"controller", options_.name},
                                {"object", object},
                                {"again_after_s", in_seconds(*result->requeue_after)}});
      break;
    case PassOutcome::kTerminal:
      log::error("cannot reconcile; waiting for the object to change",
                 {{"controller", options_.name},
                  {"object", object},
                  {"code", paddle::name(result.error().code)},
                  {"error", result.error().message}});
      queue_.finished(taken.key);
      break;
    case PassOutcome::kStopped:
      if (stopping) {
        queue_.abandoned(taken.key);
      } else {
        queue_.failed(taken.key);  // the fence rejected a write before the elector stopped us
      }
      log::info(
          "pass stopped",
          {{"controller", options_.name}, {"object", object}, {"error", result.error().message}});
      break;
    case PassOutcome::kRetry:
    case PassOutcome::kPanicked: {
      const nanoseconds asked = result.error().retry_after.value_or(std::chrono::milliseconds{0});
      const auto pause = queue_.failed(taken.key, asked);
      log::write(panicked ? log::Level::kError : log::Level::kWarn, "pass failed; retrying",
                 {{"controller", options_.name},
                  {"object", object},
                  {"code", paddle::name(result.error().code)},
                  {"error", result.error().message},
                  {"failures", taken.failures + 1},
                  {"pause_s", in_seconds(pause)}});
      break;
    }
  }
  return outcome;
}

}  // namespace paddle::controllers
