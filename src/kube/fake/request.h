// SPDX-License-Identifier: Apache-2.0
//
// One call to a Cluster, as a value: recorded by FakeCluster, and the input of FailingCluster's
// policy.

#pragma once

#include <string>
#include <string_view>

#include "api/core/meta.h"
#include "kube/resource.h"

namespace paddle::kube {

enum class Verb { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kRemove, kGetSub };

constexpr std::string_view name(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "get";
    case Verb::kList:
      return "list";
    case Verb::kWatch:
      return "watch";
    case Verb::kCreate:
      return "create";
    case Verb::kUpdate:
      return "update";
    case Verb::kPatch:
      return "patch";
    case Verb::kRemove:
      return "remove";
    case Verb::kGetSub:
      return "get_sub";
  }
  return "unknown";
}

constexpr bool is_write(Verb verb) {
  return verb == Verb::kCreate || verb == Verb::kUpdate || verb == Verb::kPatch ||
         verb == Verb::kRemove;
}

struct Request {
  Verb verb = Verb::kGet;
  Resource resource{};
  api::ObjectKey key{};  // for a list or watch: the namespace, no name
  std::string sub{};
  bool operator==(const Request&) const = default;
};

}  // namespace paddle::kube
