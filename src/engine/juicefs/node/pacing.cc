// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/pacing.h"

#include <algorithm>
#include <thread>

namespace paddle::engine::juicefs {
namespace {

constexpr double kReadersAtWork = 256 << 10;  // bytes a second
constexpr double kStep = 0.2;                 // five quiet seconds and it has all of the time again
constexpr std::chrono::seconds kPaceEvery{1};

}  // namespace

double next_share(double share, double missed_bytes_per_second) {
  if (missed_bytes_per_second >= kReadersAtWork) return kLeastShare;
  return std::clamp(share + kStep, kLeastShare, 1.0);
}

bool runs_now(double share, std::chrono::milliseconds since) {
  if (share >= 1) return true;
  const auto at = static_cast<double>((since % kPacePeriod).count());
  return at < share * static_cast<double>(kPacePeriod.count());
}

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
