// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/kinds.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "kube/rules/object_rules.h"
#include "local/api_server/transaction.h"

namespace paddle::local {
namespace {

Kind core(const kube::Resource& resource, std::vector<std::string> short_names,
          std::vector<std::string> subresources = {}) {
  Kind made{.resource = resource,
            .short_names = std::move(short_names),
            .subresources = std::move(subresources)};
  std::ranges::transform(resource.kind, std::back_inserter(made.singular),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const kube::KindRules rules = kube::rules_of(resource);
  if (rules.status) made.subresources.emplace_back("status");
  if (rules.scale) made.subresources.emplace_back("scale");
  const bool in_all = resource.plural == "pods" || resource.plural == "services" ||
                      resource.plural == "statefulsets";
  if (in_all) made.categories = {"all"};
  return made;
}

Kind ours(const kube::Resource& resource, api::Kind kind) {
  Kind made = core(resource, {api::describe(kind).short_name});
  if (made.short_names.front().empty()) made.short_names.clear();
  made.ours = kind;
  return made;
}

std::vector<Kind> make_kinds() {
  namespace known = kube::resources;
  return {core(known::kConfigMaps, {"cm"}),
          core(known::kEvents, {"ev"}),
          core(known::kNamespaces, {"ns"}, {"finalize"}),
          core(known::kNodes, {"no"}),
          core(resources::kClaims, {"pvc"}),
          core(resources::kPersistentVolumes, {"pv"}),
          core(known::kPods, {"po"}, {"binding", "log"}),
          core(known::kSecrets, {}),
          core(resources::kServiceAccounts, {"sa"}),
          core(known::kServices, {"svc"}),
          core(resources::kStatefulSets, {"sts"}),
          core(known::kLeases, {}),
          ours(known::kPaddleJobs, api::Kind::kPaddleJob),
          ours(known::kSampleSets, api::Kind::kSampleSet),
          ours(known::kSampleJobs, api::Kind::kSampleJob)};
}

}  // namespace

bool Kind::has(std::string_view subresource) const {
  return std::ranges::find(subresources, subresource) != subresources.end();
}

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kKinds = make_kinds();
  return kKinds;
}

const Kind* find_kind(std::string_view group, std::string_view version, std::string_view plural) {
  for (const Kind& kind : all_kinds()) {
    const kube::Resource& r = kind.resource;
    if (r.group == group && r.version == version && r.plural == plural) return &kind;
  }
  return nullptr;
}

const Kind* find_collection(std::string_view collection) {
  for (const Kind& kind : all_kinds()) {
    if (collection_of(kind.resource) == collection) return &kind;
  }
  return nullptr;
}

std::vector<GroupVersion> group_versions() {
  std::vector<GroupVersion> found;
  for (const Kind& kind : all_kinds()) {
    GroupVersion here{kind.resource.group, kind.resource.version};
    if (std::ranges::find(found, here) == found.end()) found.push_back(std::move(here));
  }
  return found;
}

}  // namespace paddle::local
