// SPDX-License-Identifier: Apache-2.0
//
// The kinds that the embedded server serves. Everything that differs between them is defined here,
// in kube/rules (subresources), defaults.h and table.h. Constant after the first use.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/crd/describe.h"
#include "kube/resource.h"

namespace paddle::local {

struct Kind {
  kube::Resource resource{};
  std::string singular{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::optional<api::Kind> ours{};          // validated by api/
  std::vector<std::string> subresources{};  // "status", "scale", "binding", "log"

  bool has(std::string_view subresource) const;
};

const std::vector<Kind>& all_kinds();

// Null if the kind is not served.
const Kind* find_kind(std::string_view group, std::string_view version, std::string_view plural);
const Kind* find_collection(std::string_view collection);  // "group/plural"

struct GroupVersion {
  std::string group{};
  std::string version{};
  auto operator<=>(const GroupVersion&) const = default;
};
// Without repetition, the preferred version of a group first.
std::vector<GroupVersion> group_versions();

namespace resources = kube::resources;

}  // namespace paddle::local
