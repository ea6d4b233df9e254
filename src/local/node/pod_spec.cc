// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_spec.h"

#include <nlohmann/json.hpp>

#include "engine/samplefs/volumes.h"

namespace paddle::local {
namespace {

using api::Json;

Error wrong(const std::string& path, const char* expected) {
  return Error{Code::kInvalid, path + " must be " + expected};
}

const Json& at(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_boolean() && value.get<bool>();
}

int number(const Json& object, const char* key, int otherwise) {
  const Json& value = at(object, key);
  return value.is_number_integer() ? static_cast<int>(value.get<std::int64_t>()) : otherwise;
}

Result<std::vector<std::string>> texts(const Json& object, const char* key,
                                       const std::string& path) {
  std::vector<std::string> out;
  const Json& list = at(object, key);
  if (list.is_null()) return out;
  if (!list.is_array()) return wrong(path + "." + key, "a list of strings");
  for (const Json& item : list) {
    if (!item.is_string()) return wrong(path + "." + key, "a list of strings");
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::map<std::string, std::string> items_of(const Json& source) {
  std::map<std::string, std::string> items;
  const Json& list = at(source, "items");
  if (list.is_array()) {
    for (const Json& item : list) items[text(item, "key")] = text(item, "path");
  }
  return items;
}

DownwardVolume downward(const Json& source) {
  DownwardVolume volume;
  const Json& list = at(source, "items");
  if (list.is_array()) {
    for (const Json& item : list) {
      volume.files[text(item, "path")] = text(at(item, "fieldRef"), "fieldPath");
    }
  }
  return volume;
}

// A handle becomes part of a path.
bool plain(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

Result<VolumeSource> decode_inline(const Json& csi, const std::string& path) {
  namespace ours = engine::samplefs;
  if (const std::string driver = text(csi, "driver"); driver != ours::kDriver) {
    return Error{Code::kInvalid, path + " is of the CSI driver '" + driver +
                                     "', which one machine does not have; it offers " +
                                     ours::kDriver};
  }
  const Json& attributes = at(csi, "volumeAttributes");
  const std::string kind = text(attributes, ours::kVolumeAttribute);
  RuntimeVolume volume{.session = kind == ours::kSessionVolume,
                       .handle = text(attributes, ours::kHandleAttribute),
                       .path = text(attributes, ours::kPathAttribute)};
  if (!volume.session && kind != ours::kCacheVolume) {
    return wrong(path + ": the attribute 'volume'", "cache or session");
  }
  if (!plain(volume.handle)) return wrong(path + ": the attribute 'handle'", "a plain name");
  if (!volume.path.empty() && volume.path.front() != '/') {
    return wrong(path + ": the attribute 'path'", "absolute");
  }
  return VolumeSource{std::move(volume)};
}

Result<VolumeSource> decode_volume(const Json& volume, const std::string& path) {
  if (at(volume, "emptyDir").is_object()) {
    return VolumeSource{EmptyDirVolume{.memory = text(volume["emptyDir"], "medium") == "Memory"}};
  }
  if (const Json& host = at(volume, "hostPath"); host.is_object()) {
    return VolumeSource{HostPathVolume{.path = text(host, "path"), .type = text(host, "type")}};
  }
  for (const bool secret : {false, true}) {
    const Json& source = at(volume, secret ? "secret" : "configMap");
    if (!source.is_object()) continue;
    return VolumeSource{ObjectVolume{.secret = secret,
                                     .name = text(source, secret ? "secretName" : "name"),
                                     .items = items_of(source),
                                     .mode = number(source, "defaultMode", 0644),
                                     .optional = flag(source, "optional")}};
  }
  if (const Json& claim = at(volume, "persistentVolumeClaim"); claim.is_object()) {
    return VolumeSource{
        ClaimVolume{.claim = text(claim, "claimName"), .read_only = flag(claim, "readOnly")}};
  }
  if (const Json& source = at(volume, "downwardAPI"); source.is_object()) {
    return VolumeSource{downward(source)};
  }
  if (const Json& csi = at(volume, "csi"); csi.is_object()) return decode_inline(csi, path);
  return Error{Code::kInvalid, path +
                                   " is of a kind that one machine can not offer; use emptyDir, "
                                   "hostPath, configMap, secret, downwardAPI or a claim"};
}

EnvEntry decode_env(const Json& from) {
  EnvEntry entry{.name = text(from, "name"), .value = text(from, "value")};
  const Json& source = at(from, "valueFrom");
  if (!source.is_object()) return entry;
  entry.field_path = text(at(source, "fieldRef"), "fieldPath");
  if (const Json& map = at(source, "configMapKeyRef"); map.is_object()) {
    entry.config_map = text(map, "name");
    entry.key = text(map, "key");
    entry.optional = flag(map, "optional");
  }
  if (const Json& secret = at(source, "secretKeyRef"); secret.is_object()) {
    entry.secret = text(secret, "name");
    entry.key = text(secret, "key");
    entry.optional = flag(secret, "optional");
  }
  return entry;
}

EnvFrom decode_env_from(const Json& from) {
  const bool secret = at(from, "secretRef").is_object();
  const Json& source = at(from, secret ? "secretRef" : "configMapRef");
  return {.secret = secret,
          .name = text(source, "name"),
          .prefix = text(from, "prefix"),
          .optional = flag(source, "optional")};
}

Result<Container> decode_container(const Json& from, const std::string& path) {
  if (!from.is_object()) return wrong(path, "an object");
  Container c{.name = text(from, "name"),
              .image = text(from, "image"),
              .working_dir = text(from, "workingDir")};
  if (c.name.empty()) return wrong(path + ".name", "given");
  TRY(c.command, texts(from, "command", path));
  TRY(c.args, texts(from, "args", path));
  if (const Json& env = at(from, "env"); env.is_array()) {
    for (const Json& entry : env) c.env.push_back(decode_env(entry));
  }
  if (const Json& sources = at(from, "envFrom"); sources.is_array()) {
    for (const Json& source : sources) c.env_from.push_back(decode_env_from(source));
  }
  if (const Json& mounts = at(from, "volumeMounts"); mounts.is_array()) {
    for (const Json& mount : mounts) {
      c.mounts.push_back({.volume = text(mount, "name"),
                          .path = text(mount, "mountPath"),
                          .sub_path = text(mount, "subPath"),
                          .read_only = flag(mount, "readOnly")});
    }
  }
  return c;
}

Result<std::vector<Container>> decode_containers(const Json& spec, const char* key) {
  std::vector<Container> out;
  const Json& list = at(spec, key);
  if (list.is_null()) return out;
  const std::string path = std::string("spec.") + key;
  if (!list.is_array()) return wrong(path, "a list");
  for (size_t i = 0; i < list.size(); ++i) {
    TRY(auto container, decode_container(list[i], path + "[" + std::to_string(i) + "]"));
    out.push_back(std::move(container));
  }
  return out;
}

Result<> check_mounts(const PodSpec& pod) {
  for (const auto* list : {&pod.init, &pod.containers}) {
    for (const Container& c : *list) {
      for (const Mount& mount : c.mounts) {
        if (!pod.volumes.contains(mount.volume)) {
          return Error{Code::kInvalid, "container " + c.name + " mounts the volume '" +
                                           mount.volume + "', which the pod does not have"};
        }
        if (mount.path.empty() || mount.path.front() != '/') {
          return Error{Code::kInvalid,
                       "container " + c.name + ": mountPath '" + mount.path + "' is not absolute"};
        }
      }
    }
  }
  return Done{};
}

}  // namespace

Result<PodSpec> decode_pod_spec(const Json& pod) {
  PodSpec out;
  TRY(out.meta, api::decode_meta(pod));
  const Json& spec = at(pod, "spec");
  if (!spec.is_object()) return wrong("spec", "an object");

  TRY(out.init, decode_containers(spec, "initContainers"));
  TRY(out.containers, decode_containers(spec, "containers"));
  if (out.containers.empty()) return wrong("spec.containers", "a list with at least one container");

  if (const Json& volumes = at(spec, "volumes"); volumes.is_array()) {
    for (const Json& volume : volumes) {
      const std::string name = text(volume, "name");
      TRY(auto source, decode_volume(volume, "volume '" + name + "'"));
      out.volumes.emplace(name, std::move(source));
    }
  }
  const std::string restart = text(spec, "restartPolicy");
  out.restart = restart == "Never"       ? RestartPolicy::kNever
                : restart == "OnFailure" ? RestartPolicy::kOnFailure
                                         : RestartPolicy::kAlways;
  out.node_name = text(spec, "nodeName");
  out.hostname = text(spec, "hostname");
  out.host_network = flag(spec, "hostNetwork");
  out.grace_seconds = number(spec, "terminationGracePeriodSeconds", 30);
  CHECK_DONE(check_mounts(out));
  return out;
}

}  // namespace paddle::local
