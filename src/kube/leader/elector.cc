// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/elector.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/log.h"

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A dead connection must not use up the whole deadline: at least two more attempts must fit.
milliseconds attempt_limit(const LeaseTiming& timing) {
  return std::max(timing.retry, timing.renew_deadline / 3);
}

}  // namespace

std::string elector_identity(Random& random) {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return std::string(host[0] != '\0' ? host : "unknown") + "_" + random.hex(16);
}

Result<std::unique_ptr<Elector>> Elector::make(Cluster& cluster, ElectorOptions options,
                                               const Clock& clock, Random& random,
                                               Metrics& metrics) {
  CHECK_DONE(check(options.timing));
  if (options.lease.ns.empty() || options.lease.name.empty()) {
    return Error{Code::kInvalid, "leader election: the lease needs a namespace and a name"};
  }
  if (options.identity.empty()) {
    return Error{Code::kInvalid, "leader election: the identity must not be empty"};
  }
  return std::unique_ptr<Elector>(new Elector(cluster, std::move(options), clock, random, metrics));
}

Elector::Elector(Cluster& cluster, ElectorOptions options, const Clock& clock, Random& random,
                 Metrics& metrics)
    : cluster_(cluster),
      options_(std::move(options)),
      clock_(clock),
      random_(random),
      fenced_(cluster, fence_, clock, options_.lease.name, metrics),
      leading_gauge_(metrics.gauge("paddle_leader", "1 while this process is the leader.",
                                   {{"lease", options_.lease.name}})),
      terms_(metrics.counter("paddle_leader_terms_total", "Elections won.",
                             {{"lease", options_.lease.name}})),
      renewals_(metrics.counter("paddle_leader_renewals_total", "Attempts to renew the lease.",
                                {{"lease", options_.lease.name}, {"result", "ok"}})),
      failed_renewals_(metrics.counter("paddle_leader_renewals_total",
                                       "Attempts to renew the lease.",
                                       {{"lease", options_.lease.name}, {"result", "failed"}})) {}

Elector::~Elector() { resign(); }

void Elector::start(TermCallbacks callbacks) {
  thread_ = std::jthread(
      [this, callbacks = std::move(callbacks)](std::stop_token stop) { run(stop, callbacks); });
}

void Elector::resign() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Elector::run(std::stop_token stop, const TermCallbacks& callbacks) {
  while (acquire(stop)) {
    log::info("became leader",
              {{"lease", to_string(options_.lease)}, {"identity", options_.identity}});
    terms_.Increment();
    leading_gauge_.Set(1);
    leading_ = true;
    if (callbacks.on_started) callbacks.on_started();
    keep_renewing(stop);
    leading_ = false;
    leading_gauge_.Set(0);
    if (!stop.stop_requested()) {
      fence_.close();
      log::warn("lost the lease", {{"lease", to_string(options_.lease)}});
    }
    if (callbacks.on_stopped) callbacks.on_stopped();
    if (stop.stop_requested()) release();
  }
  fence_.close();
}

Result<LeaseDecision> Elector::read_lease(std::stop_token stop) {
  auto got = cluster_.get(resources::kLeases, options_.lease,
                          {.timeout = attempt_limit(options_.timing), .stop = stop});
  const BootTime now = clock_.boot();
  if (got.is(Code::kNotFound)) {
    seen_.reset();
    object_.reset();
    return decide(seen_, options_.identity, options_.timing, now);
  }
  if (!got) return std::move(got).error().in("read lease");
  TRY(const LeaseRecord record, decode_lease(*got));
  seen_ = observe_lease(seen_, record, now);
  object_ = std::make_unique<Json>(*std::move(got));
  return decide(seen_, options_.identity, options_.timing, now);
}

bool Elector::acquire(std::stop_token stop) {
  while (!stop.stop_requested()) {
    auto decision = read_lease(stop);
    if (!decision) {
      if (!stop.stop_requested()) {
        log::warn("cannot read the lease",
                  {{"lease", to_string(options_.lease)}, {"error", decision.error().message}});
      }
    } else if (decision->action != LeaseAction::kWait && write_claim(decision->action, stop)) {
      return true;
    }
    // Random, so that several candidates do not keep sending at the same time.
    const auto pause = options_.timing.retry * (1.0 + 0.2 * random_.uniform());
    clock_.sleep(std::chrono::duration_cast<nanoseconds>(pause), stop);
  }
  return false;
}

bool Elector::write_claim(LeaseAction action, std::stop_token stop) {
  const auto before = seen_ ? std::optional(seen_->record) : std::nullopt;
  const auto record = claim(before, options_.identity, options_.timing, clock_.wall());
  const BootTime started = clock_.boot();
  const Call call{.timeout = attempt_limit(options_.timing), .stop = stop};
  if (object_) edit_lease(*object_, record);
  auto stored = action == LeaseAction::kCreate || !object_
                    ? cluster_.create(resources::kLeases, new_lease(options_.lease, record), call)
                    : cluster_.update(resources::kLeases, *object_, {}, call);
  if (!stored) {
    object_.reset();  // the next read shows what is stored
    // All candidates but one lose the race for it; that is normal.
    if (!stored.is(Code::kConflict) && !stored.is(Code::kAlreadyExists) && !stop.stop_requested()) {
      log::warn("cannot acquire the lease",
                {{"lease", to_string(options_.lease)}, {"error", stored.error().message}});
    }
    return false;
  }
  renewed(started, *std::move(stored));
  return fence_.open(clock_.boot());  // false: the response came after the lease expired
}

void Elector::renewed(BootTime started, Json stored) {
  last_renewal_ = started;
  if (auto record = decode_lease(stored)) seen_ = observe_lease(seen_, *record, clock_.boot());
  object_ = std::make_unique<Json>(std::move(stored));
  fence_.open_until(write_until(started, options_.timing));
}

void Elector::keep_renewing(std::stop_token stop) {
  while (clock_.sleep(options_.timing.retry, stop)) {
    const BootTime give_up = give_up_at(last_renewal_, options_.timing);
    if (clock_.boot() >= give_up) return;
    const Renewal renewal = renew(give_up, stop);
    (renewal == Renewal::kGood ? renewals_ : failed_renewals_).Increment();
    if (renewal == Renewal::kLost) return;
  }
}

Elector::Renewal Elector::renew(BootTime give_up, std::stop_token stop) {
  if (!object_) {  // the stored lease is not known
    auto decision = read_lease(stop);
    if (!decision) return Renewal::kTryAgain;
    if (decision->action != LeaseAction::kRenew) return Renewal::kLost;
  }
  const BootTime started = clock_.boot();
  const auto left = std::chrono::floor<milliseconds>(give_up - started);
  if (left <= milliseconds{0}) return Renewal::kLost;
  edit_lease(*object_, claim(seen_ ? std::optional(seen_->record) : std::nullopt, options_.identity,
                             options_.timing, clock_.wall()));
  // Fenced like any other write: a renewal is not sent after the end of the lease.
  auto stored =
      fenced_.update(resources::kLeases, *object_, {},
                     {.timeout = std::min(attempt_limit(options_.timing), left), .stop = stop});
  if (stored) {
    renewed(started, *std::move(stored));
    return fence_.open(clock_.boot()) ? Renewal::kGood : Renewal::kLost;
  }
  object_.reset();
  if (stored.is(Code::kNotFound))
    return Renewal::kLost;  // deleted: any candidate may create it now
  if (!stop.stop_requested()) {
    log::warn("cannot renew the lease",
              {{"lease", to_string(options_.lease)}, {"error", stored.error().message}});
  }
  return Renewal::kTryAgain;
}

void Elector::release() {
  Result<Json> stored = Error{Code::kCancelled, "another process holds the lease"};
  for (int attempt = 0; attempt < 2 && fence_.open(clock_.boot()); ++attempt) {
    if (!object_) {  // a renewal was interrupted or had no response: read its outcome
      auto decision = read_lease({});
      if (!decision || decision->action != LeaseAction::kRenew) continue;
    }
    edit_lease(*object_, released(seen_.value_or(ObservedLease{}).record, clock_.wall()));
    stored = fenced_.update(resources::kLeases, *object_, {},
                            {.timeout = attempt_limit(options_.timing)});
    if (stored) break;
    object_.reset();
  }
  fence_.close();
  if (stored) {
    log::info("released the lease", {{"lease", to_string(options_.lease)}});
  } else {
    log::warn("lease not released; the next leader waits until it has expired",
              {{"lease", to_string(options_.lease)}, {"error", stored.error().message}});
  }
}

}  // namespace paddle::kube
