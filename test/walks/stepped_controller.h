// SPDX-License-Identifier: Apache-2.0
//
// One controller whose passes run when the test asks for them, one at a time: with the real
// informers and the real work queue, on a clock that only the test moves. It can be killed before
// any of its writes and begins again with what is stored.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "controllers/loop/manager.h"
#include "kube/events/recorder.h"
#include "kube/fake/fake_cluster.h"
#include "kube/informer/informers.h"
#include "test/walks/embedded_cluster.h"

namespace paddle::walks {

class SteppedController {
 public:
  using Build = std::function<controllers::Reconcile(const controllers::ControllerContext&)>;
  SteppedController(EmbeddedServer& server, Defect defect, Build build, const ManualClock& clock,
                    std::uint64_t seed);
  ~SteppedController();

  // One pass over the next key that is due; false: none is.
  bool step();
  // Ends this operator and starts another one, which knows nothing but what is stored.
  void restart();

 private:
  struct Life;  // of one operator
  static void take_ready(Life& life);

  EmbeddedServer& server_;
  const Defect defect_;
  const Build build_;
  const ManualClock& clock_;
  Random random_;
  kube::FakeCluster events_{};  // not the server under test: events are written by a thread
  std::unique_ptr<Life> life_;
};

}  // namespace paddle::walks
