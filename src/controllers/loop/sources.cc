// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/sources.h"

#include <string_view>

namespace paddle::controllers {
namespace {

std::string_view group_of(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == api_version.npos ? std::string_view{} : api_version.substr(0, slash);
}

}  // namespace

std::optional<ObjectKey> controlling_key(const api::Meta& child, const kube::Resource& owner) {
  const api::OwnerReference* reference = child.controller();
  if (!reference || reference->kind != owner.kind) return std::nullopt;
  if (group_of(reference->api_version) != owner.group) return std::nullopt;
  return ObjectKey{owner.namespaced ? child.key.ns : std::string{}, reference->name};
}

}  // namespace paddle::controllers
