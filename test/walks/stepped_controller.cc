// SPDX-License-Identifier: Apache-2.0
#include "test/walks/stepped_controller.h"

#include <set>

#include <gtest/gtest.h>

namespace paddle::walks {

struct SteppedController::Life {
  Life(EmbeddedServer& server, Defect defect, kube::Cluster& sink, const ManualClock& clock,
       Random& random)
      : watched(server, Defect::kNone, true),
        direct(server, defect),
        pauses(random.next()),
        informers(watched, metrics, {}, system_clock(), pauses),
        events(sink, "walk", clock, metrics),
        queue("walk", {}, clock, random, metrics) {}
  ~Life() {
    informers.stop();     // their handlers use what reconcile has
    reconcile = nullptr;  // with what it polls, before what that wakes
  }

  Metrics metrics{};
  EmbeddedCluster watched;
  EmbeddedCluster direct;
  Random pauses;  // of the informers' threads, which draw whenever they come to it
  kube::Informers informers;
  kube::EventRecorder events;
  controllers::WorkQueue queue;
  controllers::Reconcile reconcile{};
  // Taken from the queue, in the order of their names: lists that begin together add keys in any
  // order.
  std::set<api::ObjectKey> taken{};
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

// take() waits for a key; the one added here is always ready, behind those that are ready already.
// Keys that the clock has made due are promoted by take() and follow it.
void SteppedController::take_ready(Life& life) {
  static const api::ObjectKey kEnd{"", "(end of the queue)"};
  do {
    life.queue.add(kEnd);
    for (auto taken = life.queue.take({}); taken->key != kEnd; taken = life.queue.take({})) {
      life.taken.insert(taken->key);
    }
    life.queue.finished(kEnd);
  } while (life.queue.depth() > 0);
}

bool SteppedController::step() {
  // Some informers start with the first object that needs them.
  EXPECT_TRUE(life_->informers.wait_until_synced({}));
  server_.deliver();
  if (life_->taken.empty()) take_ready(*life_);
  if (life_->taken.empty()) return false;
  const api::ObjectKey key = *life_->taken.begin();
  life_->taken.erase(key);
  controllers::WorkQueue& queue = life_->queue;
  const auto result = life_->reconcile(key, {});
  switch (controllers::outcome_of(result)) {
    case controllers::PassOutcome::kAgain:
      queue.again(key, *result->requeue_after);
      break;
    case controllers::PassOutcome::kRetry:
      queue.failed(key);
      break;
    default:
      queue.finished(key);
  }
  return true;
}

}  // namespace paddle::walks
