// SPDX-License-Identifier: Apache-2.0
//
// The kinds that a server serves, by every name that people use: plural, singular, short, with or
// without the group ("paddlejobs", "paddlejob", "pdj", "pdj.batch.paddlepaddle.org"), and by
// apiVersion and kind as in a file. Asked from the server, so that any server will do.

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

  // "paddlejob.batch.paddlepaddle.org", "pod": how results name an object's kind.
  std::string qualified_name() const;
};

class Kinds {
 public:
  static Result<Kinds> discover(kube::Client& client, const kube::Call& call);
  explicit Kinds(std::vector<KnownKind> kinds) : kinds_(std::move(kinds)) {}

  // kNotFound names the kinds that there are.
  Result<KnownKind> named(const std::string& name) const;
  Result<KnownKind> of_object(const api::Json& object) const;

 private:
  std::vector<KnownKind> kinds_;
};

// One APIResourceList; subresources are passed over. Pure.
std::vector<KnownKind> kinds_in(const api::Json& list);

}  // namespace paddle::cli
