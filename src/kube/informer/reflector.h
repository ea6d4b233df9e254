// SPDX-License-Identifier: Apache-2.0
//
// Follows one collection of the server until it is stopped: lists, watches, and begins again as
// state/reflector_plan.h decides. Independent of what the objects mean: it passes their texts to a
// sink.
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

// The part of a collection to follow.
struct Scope {
  std::string ns{};  // empty = all namespaces
  std::string label_selector{};
  std::string field_selector{};
  bool metadata_only = false;  // as in ListOptions
  auto operator<=>(const Scope&) const = default;
};

class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  // A list that is begun again, or not ended, has no effect.
  virtual void begin_list() = 0;
  virtual void list_item(std::string_view object) = 0;
  // `most_recent` as in ObservedState::end_list.
  virtual void end_list(const std::string& version, bool most_recent) = 0;
  // Returns the version of the stream after the event; an error when it is not known, which ends
  // the watch and leads to a new list.
  virtual Result<std::string> event(const WatchEvent& event) = 0;
  // Called for every attempt, for counters.
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
  bool unknown_ = false;  // the server does not know the resource; logged once
};

}  // namespace paddle::kube
