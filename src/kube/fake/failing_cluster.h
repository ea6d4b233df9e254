// SPDX-License-Identifier: Apache-2.0
//
// Wraps any Cluster and makes chosen calls fail: before they are executed, after they were executed
// with the response lost, in the middle of a list or watch, late, or executed twice. A policy
// decides for each call; it is a function of the request and of the number of previous calls, so
// that a schedule is reproducible as far as the order of calls is.
//
// Thread-safe. The policy is called under a lock, one call at a time; it must not call back.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "kube/fake/request.h"

namespace paddle::kube {

struct Fault {
  enum class Kind {
    kRefuse,  // not executed, the error is returned
    kLose,    // executed, the response is lost; a list or watch fails after `elements`
    kRepeat,  // executed twice, the second response is returned; a list or watch delivers every
              // element twice
    kDelay,   // executed late
  };
  Kind kind = Kind::kRefuse;
  Code code = Code::kUnavailable;
  size_t elements = 0;
  std::chrono::nanoseconds delay{0};  // before anything else, for every kind
  std::optional<std::chrono::milliseconds> retry_after{};
};

using FaultPolicy = std::function<std::optional<Fault>(const Request&, size_t nth)>;

namespace faults {
FaultPolicy none();
FaultPolicy every_nth(size_t n, Fault fault);  // calls n, 2n, ..., counted from 1
FaultPolicy each_once(Fault fault);            // the first attempt of each distinct request
FaultPolicy scripted(std::vector<std::optional<Fault>> script);  // then none
// Each call fails with `probability`, in a way drawn from `seed`: refused, lost, repeated or cut.
FaultPolicy random(std::uint64_t seed, double probability);
}  // namespace faults

class FailingCluster final : public Cluster {
 public:
  FailingCluster(Cluster& inner, FaultPolicy policy, const Clock& clock = system_clock());

  Result<Json> get(const Resource&, const ObjectKey&, const Call& = {}) override;
  Result<std::string> list(const Resource&, const ListOptions&, const ItemSink& sink,
                           const Call& = {}) override;
  Result<> watch(const Resource&, const WatchOptions&, const EventSink& sink,
                 const Call& = {}) override;
  Result<Json> create(const Resource&, const Json& object, const Call& = {}) override;
  Result<Json> update(const Resource&, const Json& object, const std::string& sub = {},
                      const Call& = {}) override;
  Result<Json> patch(const Resource&, const ObjectKey&, const Patch&, const std::string& sub = {},
                     const Call& = {}) override;
  Result<> remove(const Resource&, const ObjectKey&, const DeleteOptions& = {},
                  const Call& = {}) override;
  Result<Json> get_sub(const Resource&, const ObjectKey&, const std::string& sub,
                       const Call& = {}) override;

  void set_policy(FaultPolicy policy);
  size_t injected() const;  // faults so far

 private:
  std::optional<Fault> decide(const Request& request);
  template <typename Perform>
  auto perform(const Request& request, const Call& call, Perform perform) -> decltype(perform());
  template <typename Sink, typename Perform>
  auto stream(const Request& request, const Call& call, const Sink& sink, Perform perform)
      -> decltype(perform(sink));

  Cluster& inner_;
  const Clock& clock_;

  mutable Mutex mutex_;
  FaultPolicy policy_ GUARDED_BY(mutex_);
  size_t calls_ GUARDED_BY(mutex_) = 0;
  size_t injected_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::kube
