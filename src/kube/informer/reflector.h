// SPDX-License-Identifier: Apache-2.0
//
// Follows one collection of the server for ever: lists, watches, and begins again as
// reflector_plan.h says. Knows nothing of what the objects mean: texts go to a sink.
//
// run() blocks until `stop`; one thread per reflector. The sink is called on that thread only.

#pragma once

#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "kube/cluster.h"
#include "kube/informer/state/reflector_plan.h"

namespace paddle::kube {

// Which part of a collection.
struct Scope {
  std::string ns{};  // empty = all namespaces
  std::string label_selector{};
  std::string field_selector{};
  bool metadata_only = false;  // ListOptions says what that means
  auto operator<=>(const Scope&) const = default;
};

class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  // A list that is begun again, or not ended, did not happen.
  virtual void begin_list() = 0;
  virtual void list_item(std::string_view object) = 0;
  virtual void end_list(const std::string& version) = 0;
  // Returns the version that the event brings the stream to; an error when that can not be told,
  // which ends the watch and leads to a new list.
  virtual Result<std::string> event(const WatchEvent& event) = 0;
  // Told about every attempt, for counters.
  virtual void list_begins() {}
  virtual void watch_begins() {}
};

class Reflector {
 public:
  Reflector(Cluster& cluster, Resource resource, Scope scope, ReflectorSink& sink,
            const ReflectorPace& pace, const Clock& clock, Random& random);

  void run(std::stop_token stop);

 private:
  Result<std::string> list(const ReflectorStep& step, std::stop_token stop);
  WatchOutcome watch(const ReflectorStep& step, std::stop_token stop);
  void explain(std::string_view what, const Error& error);

  Cluster& cluster_;
  const Resource resource_;
  const Scope scope_;
  ReflectorSink& sink_;
  const Clock& clock_;
  ReflectorPlan plan_;
  bool unknown_ = false;  // the server does not know the resource, and we have said so
};

}  // namespace paddle::kube
