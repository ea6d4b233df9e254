// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/failing_cluster.h"

#include <memory>
#include <random>
#include <set>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"

namespace paddle::kube {
namespace {

Error made(const Fault& fault) {
  return {.code = fault.code, .message = "injected fault", .retry_after = fault.retry_after};
}

std::string identity(const Request& request) {
  return std::string(name(request.verb)) + " " +
         path_of(request.resource, request.key, request.sub);
}

}  // namespace

namespace faults {

FaultPolicy none() {
  return [](const Request&, size_t) { return std::nullopt; };
}

FaultPolicy every_nth(size_t n, Fault fault) {
  return [=](const Request&, size_t nth) -> std::optional<Fault> {
    if (n == 0 || nth % n != 0) return std::nullopt;
    return fault;
  };
}

FaultPolicy each_once(Fault fault) {
  return [fault, seen = std::set<std::string>{}](const Request& request,
                                                 size_t) mutable -> std::optional<Fault> {
    if (!seen.insert(identity(request)).second) return std::nullopt;
    return fault;
  };
}

FaultPolicy scripted(std::vector<std::optional<Fault>> script) {
  return [script = std::move(script)](const Request&, size_t nth) -> std::optional<Fault> {
    return nth <= script.size() ? script[nth - 1] : std::nullopt;
  };
}

FaultPolicy random(std::uint64_t seed, double probability) {
  return [engine = std::mt19937_64(seed), probability](const Request&,
                                                       size_t) mutable -> std::optional<Fault> {
    const auto draw = [&](unsigned limit) { return static_cast<unsigned>(engine() % limit); };
    if (std::uniform_real_distribution<>(0, 1)(engine) >= probability) return std::nullopt;
    static constexpr Code kCodes[] = {Code::kUnavailable, Code::kDeadline, Code::kThrottled,
                                      Code::kInternal, Code::kExpired};
    static constexpr Fault::Kind kKinds[] = {Fault::Kind::kRefuse, Fault::Kind::kLose,
                                             Fault::Kind::kRepeat};
    return Fault{.kind = kKinds[draw(3)], .code = kCodes[draw(5)], .elements = draw(8)};
  };
}

}  // namespace faults

FailingCluster::FailingCluster(Cluster& inner, FaultPolicy policy, const Clock& clock)
    : inner_(inner), clock_(clock), policy_(std::move(policy)) {}

void FailingCluster::set_policy(FaultPolicy policy) {
  Lock lock(mutex_);
  policy_ = std::move(policy);
}

size_t FailingCluster::injected() const {
  Lock lock(mutex_);
  return injected_;
}

std::optional<Fault> FailingCluster::decide(const Request& request) {
  Lock lock(mutex_);
  auto fault = policy_(request, ++calls_);
  if (fault) ++injected_;
  return fault;
}

template <typename Perform>
auto FailingCluster::perform(const Request& request, const Call& call, Perform perform)
    -> decltype(perform()) {
  const auto fault = decide(request);
  if (!fault) return perform();
  if (fault->delay.count() > 0 && !clock_.sleep(fault->delay, call.stop)) {
    return Error{Code::kCancelled, "stopped"};
  }
  switch (fault->kind) {
    case Fault::Kind::kRefuse:
      return made(*fault);
    case Fault::Kind::kLose:
      static_cast<void>(static_cast<bool>(perform()));
      return made(*fault);
    case Fault::Kind::kRepeat:
      static_cast<void>(static_cast<bool>(perform()));
      return perform();
    case Fault::Kind::kDelay:
      return perform();
  }
  return perform();
}

template <typename Sink, typename Perform>
auto FailingCluster::stream(const Request& request, const Call& call, const Sink& sink,
                            Perform perform) -> decltype(perform(sink)) {
  const auto fault = decide(request);
  if (!fault) return perform(sink);
  if (fault->delay.count() > 0 && !clock_.sleep(fault->delay, call.stop)) {
    return Error{Code::kCancelled, "stopped"};
  }
  if (fault->kind == Fault::Kind::kRefuse) return made(*fault);
  if (fault->kind == Fault::Kind::kDelay) return perform(sink);
  const bool twice = fault->kind == Fault::Kind::kRepeat;
  size_t left = fault->elements;
  const Sink faulty = [&](const auto& element) -> Result<> {
    if (twice) {
      CHECK_DONE(sink(element));
      return sink(element);
    }
    if (left == 0) return made(*fault);
    --left;
    return sink(element);
  };
  auto outcome = perform(faulty);
  // A shorter list is cut at its end.
  if (!twice && outcome && request.verb == Verb::kList) return made(*fault);
  return outcome;
}

Result<Json> FailingCluster::get(const Resource& resource, const ObjectKey& key, const Call& call) {
  return perform({Verb::kGet, resource, key}, call,
                 [&] { return inner_.get(resource, key, call); });
}

Result<std::string> FailingCluster::list(const Resource& resource, const ListOptions& options,
                                         const ItemSink& sink, const Call& call) {
  return stream({Verb::kList, resource, {.ns = options.ns}}, call, sink,
                [&](const ItemSink& to) { return inner_.list(resource, options, to, call); });
}

Result<> FailingCluster::watch(const Resource& resource, const WatchOptions& options,
                               const EventSink& sink, const Call& call) {
  return stream({Verb::kWatch, resource, {.ns = options.ns}}, call, sink,
                [&](const EventSink& to) { return inner_.watch(resource, options, to, call); });
}

Result<Json> FailingCluster::create(const Resource& resource, const Json& object,
                                    const Call& call) {
  return perform({Verb::kCreate, resource, key_of(object)}, call,
                 [&] { return inner_.create(resource, object, call); });
}

Result<Json> FailingCluster::update(const Resource& resource, const Json& object,
                                    const std::string& sub, const Call& call) {
  return perform({Verb::kUpdate, resource, key_of(object), sub}, call,
                 [&] { return inner_.update(resource, object, sub, call); });
}

Result<Json> FailingCluster::patch(const Resource& resource, const ObjectKey& key,
                                   const Patch& patch, const std::string& sub, const Call& call) {
  return perform({Verb::kPatch, resource, key, sub}, call,
                 [&] { return inner_.patch(resource, key, patch, sub, call); });
}

Result<> FailingCluster::remove(const Resource& resource, const ObjectKey& key,
                                const DeleteOptions& options, const Call& call) {
  return perform({Verb::kRemove, resource, key}, call,
                 [&] { return inner_.remove(resource, key, options, call); });
}

Result<Json> FailingCluster::get_sub(const Resource& resource, const ObjectKey& key,
                                     const std::string& sub, const Call& call) {
  return perform({Verb::kGetSub, resource, key, sub}, call,
                 [&] { return inner_.get_sub(resource, key, sub, call); });
}

}  // namespace paddle::kube
