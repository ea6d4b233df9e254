// SPDX-License-Identifier: Apache-2.0
#include "local/node/object_data.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/log.h"

namespace paddle::local {
namespace {

using api::Json;

void read_strings(const Json& object, const char* field, bool encoded, Data& into) {
  const auto values = object.find(field);
  if (values == object.end() || !values->is_object()) return;
  for (const auto& [key, value] : values->items()) {
    if (!value.is_string()) continue;
    if (!encoded) {
      into[key] = value.get<std::string>();
    } else if (auto plain = base64_decode(value.get_ref<const std::string&>()); plain) {
      into[key] = *std::move(plain);
    }
  }
}

std::optional<Data> fetch(kube::Cluster& cluster, const kube::Resource& resource,
                          const api::ObjectKey& key) {
  const auto object = cluster.get(resource, key, {.timeout = std::chrono::seconds{5}});
  if (!object) {
    if (!object.is(Code::kNotFound)) {
      log::warn("cannot read an object that a pod needs", {{"kind", resource.kind},
                                                           {"name", api::to_string(key)},
                                                           {"error", object.error().message}});
    }
    return std::nullopt;
  }
  Data data;
  const bool secret = resource == kube::resources::kSecrets;
  read_strings(*object, "data", secret, data);
  if (!secret) read_strings(*object, "binaryData", true, data);
  return data;
}

}  // namespace

ObjectData object_data(kube::Cluster& cluster, const std::string& ns) {
  const auto reader = [&cluster, ns](const kube::Resource& resource) {
    return [&cluster, ns, resource](const std::string& name) {
      return fetch(cluster, resource, {ns, name});
    };
  };
  return {.config_map = reader(kube::resources::kConfigMaps),
          .secret = reader(kube::resources::kSecrets)};
}

}  // namespace paddle::local
