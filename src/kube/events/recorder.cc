// SPDX-License-Identifier: Apache-2.0
#include "kube/events/recorder.h"

#include <nlohmann/json.hpp>

#include "base/log.h"

namespace paddle::kube {
namespace {

constexpr int kAttempts = 4;
constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestPause{10'000};
constexpr std::chrono::milliseconds kDeferralCheck{
    100};  // between two checks whether a deferral has ended

std::string text(const Json& object, const char* field) {
  if (!object.is_object()) return {};
  const auto at = object.find(field);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

// Events of cluster-scoped objects are in "default", where kubectl searches them.
std::string namespace_of(const ObjectRef& about) {
  return about.key.ns.empty() ? "default" : about.key.ns;
}

}  // namespace

ObjectRef ref_of(const Json& object) {
  const Json none = Json::object();
  const bool has_meta = object.is_object() && object.contains("metadata");
  const Json& meta = has_meta ? object["metadata"] : none;
  return {.api_version = text(object, "apiVersion"),
          .kind = text(object, "kind"),
          .key = {text(meta, "namespace"), text(meta, "name")},
          .uid = text(meta, "uid")};
}

Json event_object(const EventWrite& write, const std::string& component) {
  const ObjectRef& about = write.what.about;
  Json involved{{"apiVersion", about.api_version}, {"kind", about.kind}, {"name", about.key.name}};
  if (!about.key.ns.empty()) involved["namespace"] = about.key.ns;
  if (!about.uid.empty()) involved["uid"] = about.uid;
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", {{"namespace", namespace_of(about)}, {"name", write.name}}},
          {"involvedObject", std::move(involved)},
          {"type", write.what.kind == EventKind::kWarning ? "Warning" : "Normal"},
          {"reason", write.what.reason},
          {"message", write.what.message},
          {"firstTimestamp", rfc3339(write.first)},
          {"lastTimestamp", rfc3339(write.last)},
          {"count", write.count},
          {"source", {{"component", component}}},
          {"reportingComponent", component}};
}

EventRecorder::EventRecorder(Cluster& cluster, std::string component, const Clock& clock,
                             Metrics& metrics, EventLimits limits)
    : cluster_(cluster),
      component_(std::move(component)),
      clock_(clock),
      written_(metrics.counter("paddle_events_total", "Events recorded, by result.",
                               {{"component", component_}, {"result", "written"}})),
      merged_(metrics.counter("paddle_events_total", "Events recorded, by result.",
                              {{"component", component_}, {"result", "merged"}})),
      too_often_(metrics.counter("paddle_events_total", "Events recorded, by result.",
                                 {{"component", component_}, {"result", "too_often"}})),
      full_(metrics.counter("paddle_events_total", "Events recorded, by result.",
                            {{"component", component_}, {"result", "queue_full"}})),
      failed_(metrics.counter("paddle_events_total", "Events recorded, by result.",
                              {{"component", component_}, {"result", "failed"}})),
      aggregator_(limits),
      thread_([this](std::stop_token stop) { run(stop); }) {}

EventRecorder::~EventRecorder() {
  thread_.request_stop();
  thread_.join();
}

void EventRecorder::event(const ObjectRef& about, EventKind kind, std::string reason,
                          std::string message) {
  Lock lock(mutex_);
  const BootTime now = clock_.boot();
  switch (aggregator_.add({about, kind, std::move(reason), std::move(message)}, clock_.wall(), now,
                          now < others_first_until_)) {
    case EventAggregator::Admission::kQueued:
      work_.notify_one();
      break;
    case EventAggregator::Admission::kMerged:
      merged_.Increment();
      break;
    case EventAggregator::Admission::kTooOften:
      too_often_.Increment();
      break;
    case EventAggregator::Admission::kFull:
      full_.Increment();
      break;
  }
}

void EventRecorder::give_way(std::chrono::nanoseconds pause) {
  Lock lock(mutex_);
  others_first_until_ = std::max(others_first_until_, clock_.boot() + pause);
}

bool EventRecorder::gives_way() const {
  const BootTime now = clock_.boot();
  const auto due = aggregator_.due();
  return due && now < *due && now < others_first_until_;
}

bool EventRecorder::flush(std::chrono::nanoseconds limit) {
  Lock lock(mutex_);
  others_first_until_ = BootTime::min();
  work_.notify_one();
  const BootTime deadline = clock_.boot() + limit;
  while (writing_ || aggregator_.waiting() > 0) {
    const BootTime now = clock_.boot();
    if (now >= deadline) return false;
    idle_.wait_for(mutex_, {}, deadline - now);
  }
  return true;
}

void EventRecorder::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::optional<EventWrite> next;
    {
      Lock lock(mutex_);
      writing_ = false;
      idle_.notify_all();
      if (gives_way()) {
        work_.wait_for(mutex_, stop, kDeferralCheck);
        continue;
      }
      next = aggregator_.next();
      if (!next) {
        work_.wait(mutex_, stop);
        continue;
      }
      writing_ = true;
    }
    auto written = write(*next, stop);
    if (written) {
      written_.Increment();
      continue;
    }
    failed_.Increment();
    log::debug("event not written", {{"object", to_string(next->what.about.key)},
                                     {"reason", next->what.reason},
                                     {"error", written.error().message}});
    Lock lock(mutex_);
    aggregator_.forget(next->what);
  }
  Lock lock(mutex_);
  writing_ = false;
  idle_.notify_all();
}

Result<> EventRecorder::write(const EventWrite& write, std::stop_token stop) {
  const Call call{.timeout = std::chrono::seconds{10}, .stop = stop};
  bool stored = write.stored;
  auto pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto answer =
        stored ? cluster_.patch(
                     resources::kEvents, {namespace_of(write.what.about), write.name},
                     {.body = {{"count", write.count}, {"lastTimestamp", rfc3339(write.last)}}}, {},
                     call)
               : cluster_.create(resources::kEvents, event_object(write, component_), call);
    if (answer) return Done{};
    if (attempt == kAttempts) return std::move(answer).error();
    if (!stored && answer.is(Code::kAlreadyExists)) {
      stored = true;  // a previous attempt succeeded without a response
    } else if (stored && answer.is(Code::kNotFound)) {
      stored = false;  // events expire on the server
    } else if (answer.error().retryable()) {
      if (!clock_.sleep(answer.error().retry_after.value_or(pause), stop)) {
        return Error{Code::kCancelled, "stopped"};
      }
      pause = std::min(pause * 3, kLongestPause);
    } else {
      return std::move(answer).error();
    }
  }
}

}  // namespace paddle::kube
