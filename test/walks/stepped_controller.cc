// SPDX-License-Identifier: Apache-2.0
#include "test/walks/stepped_controller.h"

#include <gtest/gtest.h>

namespace paddle::walks {

struct SteppedController::Life {
  Life(EmbeddedServer& server, Defect defect, kube::Cluster& sink, const ManualClock& clock,
       Random& random)
      : watched(server, Defect::kNone, true),
        direct(server, defect),
        informers(watched, metrics, {}, system_clock(), random),
        events(sink, "walk", clock, metrics),
        queue("walk", {}, clock, random, metrics) {}
  ~Life() {
    informers.stop();     // their handlers use what reconcile has
    reconcile = nullptr;  // with what it polls, before what that wakes
  }

  Metrics metrics{};
  EmbeddedCluster watched;
  EmbeddedCluster direct;
  kube::Informers informers;
  kube::EventRecorder events;
  controllers::WorkQueue queue;
  controllers::Reconcile reconcile{};
};

SteppedController::SteppedController(EmbeddedServer& server, Defect defect, Build build,
                                     const ManualClock& clock, std::uint64_t seed)
    : server_(server), defect_(defect), build_(std::move(build)), clock_(clock), random_(seed) {
  restart();
}

SteppedController::~SteppedController() = default;

void SteppedController::restart() {
  life_.reset();
  server_.forget_watches();
  life_ = std::make_unique<Life>(server_, defect_, events_, clock_, random_);
  Life& life = *life_;
  life.reconcile = build_({life.direct, life.informers, life.events, life.queue, life.metrics});
  life.informers.start();
  EXPECT_TRUE(life.informers.wait_until_synced({}));
}

bool SteppedController::step() {
  // Some informers start with the first object that needs them.
  EXPECT_TRUE(life_->informers.wait_until_synced({}));
  server_.deliver();
  controllers::WorkQueue& queue = life_->queue;
  // take() waits for a key; this one is always ready, behind those that are ready already. Keys
  // that the clock has made due are promoted by take() and follow it.
  static const api::ObjectKey kEnd{"", "(end of the queue)"};
  queue.add(kEnd);
  auto taken = queue.take({});
  if (taken->key == kEnd) {
    queue.finished(kEnd);
    if (queue.depth() == 0) return false;
    taken = queue.take({});
  }
  const auto result = life_->reconcile(taken->key, {});
  switch (controllers::outcome_of(result)) {
    case controllers::PassOutcome::kAgain:
      queue.again(taken->key, *result->requeue_after);
      break;
    case controllers::PassOutcome::kRetry:
      queue.failed(taken->key);
      break;
    default:
      queue.finished(taken->key);
  }
  return true;
}

}  // namespace paddle::walks
