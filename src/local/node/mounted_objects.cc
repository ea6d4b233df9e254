// SPDX-License-Identifier: Apache-2.0
#include "local/node/mounted_objects.h"

#include <algorithm>

#include "api/json/look.h"

namespace paddle::local {

Result<ObjectVersion> decode_object_version(const api::Json& object) {
  return ObjectVersion{api::look_text(api::look(object, "metadata"), "resourceVersion")};
}

bool mounts(const PodSpec& pod, const MountedObject& object) {
  return std::ranges::any_of(pod.volumes, [&](const auto& volume) {
    const auto* made_from = std::get_if<ObjectVolume>(&volume.second);
    return made_from && made_from->secret == object.secret && made_from->name == object.name;
  });
}

ObjectVersions versions_of(const PodSpec& pod,
                           const std::function<std::string(const MountedObject&)>& version) {
  ObjectVersions versions;
  for (const auto& volume : pod.volumes) {
    const auto* made_from = std::get_if<ObjectVolume>(&volume.second);
    if (!made_from) continue;
    MountedObject object{made_from->secret, made_from->name};
    std::string found = version(object);
    versions.emplace(std::move(object), std::move(found));
  }
  return versions;
}

}  // namespace paddle::local
