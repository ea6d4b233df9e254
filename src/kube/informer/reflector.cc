// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/reflector.h"

#include <utility>

#include "base/log.h"

namespace paddle::kube {
namespace {

constexpr std::chrono::milliseconds kListTimeout{120'000};  // all pages of a large collection

}  // namespace

Reflector::Reflector(Cluster& cluster, Resource resource, Scope scope, ReflectorSink& sink,
                     const ReflectorPace& pace, const Clock& clock, Random& random)
    : cluster_(cluster),
      resource_(std::move(resource)),
      scope_(std::move(scope)),
      sink_(sink),
      clock_(clock),
      plan_(pace, random) {}

void Reflector::run(std::stop_token stop) {
  ReflectorStep step = plan_.first();
  while (!stop.stop_requested() && step.kind != ReflectorStep::Kind::kStop) {
    if (step.pause.count() > 0 && !clock_.sleep(step.pause, stop)) return;
    if (step.kind == ReflectorStep::Kind::kList) {
      step = plan_.after_list(list(step, stop));
    } else {
      step = plan_.after_watch(watch(step, stop));
    }
  }
}

Result<std::string> Reflector::list(const ReflectorStep& step, std::stop_token stop) {
  sink_.list_begins();
  sink_.begin_list();
  const ListOptions options{.ns = scope_.ns,
                            .label_selector = scope_.label_selector,
                            .field_selector = scope_.field_selector,
                            .page_size = step.page_size,
                            .resource_version = step.version,
                            .metadata_only = scope_.metadata_only};
  auto version = cluster_.list(resource_, options,
                               [this](std::string_view object) -> Result<> {
                                 sink_.list_item(object);
                                 return Done{};
                               },
                               {.timeout = kListTimeout, .stop = stop});
  if (version) {
    if (std::exchange(unknown_, false)) {
      log::info("the server now serves this resource", {{"resource", resource_.plural}});
    }
    sink_.end_list(*version, step.version.empty());
  } else {
    explain("list failed", version.error());
  }
  return version;
}

WatchOutcome Reflector::watch(const ReflectorStep& step, std::stop_token stop) {
  sink_.watch_begins();
  WatchOutcome outcome{.version = step.version};
  const BootTime begun = clock_.boot();
  auto ended = cluster_.watch(resource_,
                              {.ns = scope_.ns,
                               .label_selector = scope_.label_selector,
                               .field_selector = scope_.field_selector,
                               .resource_version = step.version,
                               .timeout = step.timeout,
                               .metadata_only = scope_.metadata_only},
                              [&](const WatchEvent& event) -> Result<> {
                                TRY(outcome.version, sink_.event(event));
                                ++outcome.events;
                                return Done{};
                              },
                              {.stop = stop});
  outcome.lasted = clock_.boot() - begun;
  if (!ended) {
    explain("watch failed", ended.error());
    outcome.error = std::move(ended).error();
  }
  return outcome;
}

// Broken connections are normal; what an operator can act on is a warning.
void Reflector::explain(std::string_view what, const Error& error) {
  if (error.code == Code::kCancelled) return;
  if (error.code == Code::kNotFound) {
    if (std::exchange(unknown_, true)) return;  // once: it may last for long
    log::warn("the server does not know this resource; apply its CustomResourceDefinition",
              {{"resource", resource_.plural}, {"group", resource_.group}});
    return;
  }
  const bool passing = error.code == Code::kUnavailable || error.code == Code::kExpired ||
                       error.code == Code::kThrottled || error.code == Code::kDeadline;
  log::write(passing ? log::Level::kDebug : log::Level::kWarn, what,
             {{"resource", resource_.plural},
              {"namespace", scope_.ns},
              {"code", name(error.code)},
              {"error", error.message}});
}

}  // namespace paddle::kube
