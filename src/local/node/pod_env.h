// SPDX-License-Identifier: Apache-2.0
//
// The environment of one container, from its spec and the objects it names. Pure.
//
// Order and meaning are the kubelet's: envFrom first, then env in order, a later name wins, $(NAME)
// expands to what is already set, $$(NAME) is literal, an unknown $(NAME) stays as written.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "local/node/pod_spec.h"

namespace paddle::local {

using Data = std::map<std::string, std::string>;

// ConfigMaps and Secrets by name, with plain values; nothing when there is no such object.
struct ObjectData {
  std::function<std::optional<Data>(const std::string& name)> config_map{};
  std::function<std::optional<Data>(const std::string& name)> secret{};
};

// What the downward API can say of a pod.
struct PodFacts {
  const PodSpec& pod;
  std::string ip{};
  std::string host_ip{};
};

// "metadata.name", "metadata.annotations['a']", "status.podIP", ... kInvalid for an unknown path.
Result<std::string> field_value(const PodFacts& facts, const std::string& path);

// kNotFound names the object or key that is missing: the container can not be created yet.
Result<Data> environment(const Container& container, const PodFacts& facts,
                         const ObjectData& objects);

std::string expand(const std::string& text, const Data& known);

}  // namespace paddle::local
