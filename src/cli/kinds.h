// SPDX-License-Identifier: Apache-2.0
//
// Discovery of the kinds that a server serves. A kind is found by its plural, singular or short
// name, with or without the group ("paddlejobs", "paddlejob", "pdj", "pdj.batch.paddlepaddle.org"),
// or by apiVersion and kind. The list comes from the server, so that it works with any server.

#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "kube/client/client.h"
#include "kube/resource.h"

namespace paddle::cli {

struct KnownKind {
  kube::Resource resource{};
  std::string singular{};
  std::vector<std::string> short_names{};
  bool operator==(const KnownKind&) const = default;

  // "paddlejob.batch.paddlepaddle.org", "pod": the kind in printed results.
  std::string qualified_name() const;
};

class Kinds {
 public:
  static Result<Kinds> discover(kube::Client& client, const kube::Call& call);
  explicit Kinds(std::vector<KnownKind> kinds) : kinds_(std::move(kinds)) {}

  // kNotFound lists the known kinds.
  Result<KnownKind> named(const std::string& name) const;
  Result<KnownKind> of_object(const api::Json& object) const;

 private:
  std::vector<KnownKind> kinds_;
};

// Parses one APIResourceList; subresources are skipped. Pure.
std::vector<KnownKind> kinds_in(const api::Json& list);

}  // namespace paddle::cli
