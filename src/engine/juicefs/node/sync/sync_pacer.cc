// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/sync_pacer.h"

#include <thread>

#include "engine/juicefs/node/plan/sync_pace.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::chrono::seconds kPaceEvery{1};

}  // namespace

SyncPacer::SyncPacer(std::function<double()> misses)
    : state_(std::make_shared<State>()), began_(system_clock().boot()) {
  state_->misses = std::move(misses);
  // Detached: joining would wait for a mount that hangs.
  std::thread([state = state_] { run(*state); }).detach();
}

SyncPacer::~SyncPacer() { state_->end.request_stop(); }

bool SyncPacer::runs_now() const {
  const auto since = system_clock().boot() - began_;
  return juicefs::runs_now(state_->share,
                           std::chrono::duration_cast<std::chrono::milliseconds>(since));
}

void SyncPacer::run(State& state) {
  double before = state.misses();
  BootTime then = system_clock().boot();
  while (system_clock().sleep(kPaceEvery, state.end.get_token())) {
    const double now = state.misses();
    const BootTime at = system_clock().boot();
    const std::chrono::duration<double> passed = at - then;
    // A client that was restarted counts from zero again.
    const bool known = before >= 0 && now >= before && passed.count() > 0;
    state.share = next_share(state.share, known ? (now - before) / passed.count() : 0);
    before = now;
    then = at;
  }
}

}  // namespace paddle::engine::juicefs
