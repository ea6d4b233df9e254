// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/pacing.h"

#include <thread>

#include "engine/juicefs/node/sync_pace.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::chrono::seconds kPaceEvery{1};

}  // namespace

Pacer::Pacer(std::function<double()> misses)
    : look_(std::make_shared<Look>()), began_(system_clock().boot()) {
  look_->misses = std::move(misses);
  std::thread([look = look_] { run(*look); }).detach();  // a mount that hangs would hold us up
}

Pacer::~Pacer() { look_->end.request_stop(); }

bool Pacer::runs_now() const {
  const auto since = system_clock().boot() - began_;
  return juicefs::runs_now(look_->share,
                           std::chrono::duration_cast<std::chrono::milliseconds>(since));
}

void Pacer::run(Look& look) {
  double before = look.misses();
  BootTime then = system_clock().boot();
  while (system_clock().sleep(kPaceEvery, look.end.get_token())) {
    const double now = look.misses();
    const BootTime at = system_clock().boot();
    const std::chrono::duration<double> passed = at - then;
    // A client that was restarted counts from zero again.
    const bool known = before >= 0 && now >= before && passed.count() > 0;
    look.share = next_share(look.share, known ? (now - before) / passed.count() : 0);
    before = now;
    then = at;
  }
}

}  // namespace paddle::engine::juicefs
