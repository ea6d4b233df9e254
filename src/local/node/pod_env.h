// SPDX-License-Identifier: Apache-2.0
//
// Builds the environment of one container from its spec and the objects that it references. Pure.
//
// The rules are the kubelet's: envFrom first, then env in order; a later name wins; $(NAME) expands
// to a variable that is set already; $$(NAME) is literal; an unknown $(NAME) is not changed.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "local/node/pod_spec.h"

namespace paddle::local {

using Data = std::map<std::string, std::string>;

// Looks up ConfigMaps and Secrets by name, with decoded values; nothing if the object does not
// exist.
struct ObjectData {
  std::function<std::optional<Data>(const std::string& name)> config_map{};
  std::function<std::optional<Data>(const std::string& name)> secret{};
};

// What the downward API exposes of a pod.
struct PodFacts {
  const PodSpec& pod;
  std::string ip{};
  std::string host_ip{};
};

// "metadata.name", "metadata.annotations['a']", "status.podIP", ... kInvalid for an unknown path.
Result<std::string> field_value(const PodFacts& facts, const std::string& path);

// kNotFound names the missing object or key: the container cannot be created yet.
Result<Data> environment(const Container& container, const PodFacts& facts,
                         const ObjectData& objects);

std::string expand(const std::string& text, const Data& known);

}  // namespace paddle::local
