// SPDX-License-Identifier: Apache-2.0
#include "kube/resource.h"

#include <string_view>

#include "net/values/url.h"

namespace paddle::kube {

std::string path_of(const Resource& resource, const api::ObjectKey& key, const std::string& sub) {
  std::string path =
      resource.group.empty() ? "/api" : "/apis/" + net::percent_encode(resource.group);
  const auto add = [&](std::string_view segment) { path += "/" + net::percent_encode(segment); };
  add(resource.version);
  if (resource.namespaced && !key.ns.empty()) {
    add("namespaces");
    add(key.ns);
  }
  add(resource.plural);
  if (!key.name.empty()) add(key.name);
  if (!sub.empty()) add(sub);
  return path;
}

}  // namespace paddle::kube
