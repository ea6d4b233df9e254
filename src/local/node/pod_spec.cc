// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_spec.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "engine/samplefs/volumes.h"

namespace paddle::local {
namespace {

using api::Json;

Error wrong(const std::string& path, const char* expected) {
  return Error{Code::kInvalid, path + " must be " + expected};
}

int number(const Json& object, const char* key, int otherwise) {
  return static_cast<int>(api::look_integer(object, key, otherwise));
}

Result<std::vector<std::string>> texts(const Json& object, const char* key,
                                       const std::string& path) {
  std::vector<std::string> out;
  const Json& list = api::look(object, key);
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
  const Json& list = api::look(source, "items");
  if (list.is_array()) {
    for (const Json& item : list) items[api::look_text(item, "key")] = api::look_text(item, "path");
  }
  return items;
}

DownwardVolume downward(const Json& source) {
  DownwardVolume volume;
  const Json& list = api::look(source, "items");
  if (list.is_array()) {
    for (const Json& item : list) {
      volume.files[api::look_text(item, "path")] =
          api::look_text(api::look(item, "fieldRef"), "fieldPath");
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
  if (const std::string driver = api::look_text(csi, "driver"); driver != ours::kDriver) {
    return Error{Code::kInvalid, path + " uses the CSI driver '" + driver +
                                     "', which one machine does not have; it has " + ours::kDriver};
  }
  const Json& attributes = api::look(csi, "volumeAttributes");
  const std::string kind = api::look_text(attributes, ours::kVolumeAttribute);
  RuntimeVolume volume{.session = kind == ours::kSessionVolume,
                       .handle = api::look_text(attributes, ours::kHandleAttribute),
                       .path = api::look_text(attributes, ours::kPathAttribute)};
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
  if (api::look(volume, "emptyDir").is_object()) {
    return VolumeSource{
        EmptyDirVolume{.memory = api::look_text(volume["emptyDir"], "medium") == "Memory"}};
  }
  if (const Json& host = api::look(volume, "hostPath"); host.is_object()) {
    return VolumeSource{
        HostPathVolume{.path = api::look_text(host, "path"), .type = api::look_text(host, "type")}};
  }
  for (const bool secret : {false, true}) {
    const Json& source = api::look(volume, secret ? "secret" : "configMap");
    if (!source.is_object()) continue;
    return VolumeSource{ObjectVolume{.secret = secret,
                                     .name = api::look_text(source, secret ? "secretName" : "name"),
                                     .items = items_of(source),
                                     .mode = number(source, "defaultMode", 0644),
                                     .optional = api::look_flag(source, "optional")}};
  }
  if (const Json& claim = api::look(volume, "persistentVolumeClaim"); claim.is_object()) {
    return VolumeSource{ClaimVolume{.claim = api::look_text(claim, "claimName"),
                                    .read_only = api::look_flag(claim, "readOnly")}};
  }
  if (const Json& source = api::look(volume, "downwardAPI"); source.is_object()) {
    return VolumeSource{downward(source)};
  }
  if (const Json& csi = api::look(volume, "csi"); csi.is_object()) return decode_inline(csi, path);
  return Error{Code::kInvalid, path +
                                   " has a type that one machine does not support; use emptyDir, "
                                   "hostPath, configMap, secret, downwardAPI or a claim"};
}

EnvEntry decode_env(const Json& from) {
  EnvEntry entry{.name = api::look_text(from, "name"), .value = api::look_text(from, "value")};
  const Json& source = api::look(from, "valueFrom");
  if (!source.is_object()) return entry;
  entry.field_path = api::look_text(api::look(source, "fieldRef"), "fieldPath");
  if (const Json& map = api::look(source, "configMapKeyRef"); map.is_object()) {
    entry.config_map = api::look_text(map, "name");
    entry.key = api::look_text(map, "key");
    entry.optional = api::look_flag(map, "optional");
  }
  if (const Json& secret = api::look(source, "secretKeyRef"); secret.is_object()) {
    entry.secret = api::look_text(secret, "name");
    entry.key = api::look_text(secret, "key");
    entry.optional = api::look_flag(secret, "optional");
  }
  return entry;
}

EnvFrom decode_env_from(const Json& from) {
  const bool secret = api::look(from, "secretRef").is_object();
  const Json& source = api::look(from, secret ? "secretRef" : "configMapRef");
  return {.secret = secret,
          .name = api::look_text(source, "name"),
          .prefix = api::look_text(from, "prefix"),
          .optional = api::look_flag(source, "optional")};
}

Result<Container> decode_container(const Json& spec, const Json& from, const std::string& path) {
  if (!from.is_object()) return wrong(path, "an object");
  Container c{.name = api::look_text(from, "name"),
              .image = api::look_text(from, "image"),
              .working_dir = api::look_text(from, "workingDir")};
  if (c.name.empty()) return wrong(path + ".name", "given");
  TRY(c.command, texts(from, "command", path));
  TRY(c.args, texts(from, "args", path));
  if (const Json& env = api::look(from, "env"); env.is_array()) {
    for (const Json& entry : env) c.env.push_back(decode_env(entry));
  }
  if (const Json& sources = api::look(from, "envFrom"); sources.is_array()) {
    for (const Json& source : sources) c.env_from.push_back(decode_env_from(source));
  }
  if (const Json& mounts = api::look(from, "volumeMounts"); mounts.is_array()) {
    for (const Json& mount : mounts) {
      c.mounts.push_back({.volume = api::look_text(mount, "name"),
                          .path = api::look_text(mount, "mountPath"),
                          .sub_path = api::look_text(mount, "subPath"),
                          .read_only = api::look_flag(mount, "readOnly")});
    }
  }
  auto security = decode_security_context(spec, from);
  if (!security) return std::move(security).error().in(path);
  c.security = *std::move(security);
  return c;
}

Result<std::vector<Container>> decode_containers(const Json& spec, const char* key) {
  std::vector<Container> out;
  const Json& list = api::look(spec, key);
  if (list.is_null()) return out;
  const std::string path = std::string("spec.") + key;
  if (!list.is_array()) return wrong(path, "a list");
  for (size_t i = 0; i < list.size(); ++i) {
    TRY(auto container, decode_container(spec, list[i], path + "[" + std::to_string(i) + "]"));
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
  const Json& spec = api::look(pod, "spec");
  if (!spec.is_object()) return wrong("spec", "an object");

  TRY(out.init, decode_containers(spec, "initContainers"));
  TRY(out.containers, decode_containers(spec, "containers"));
  if (out.containers.empty()) return wrong("spec.containers", "a list with at least one container");

  if (const Json& volumes = api::look(spec, "volumes"); volumes.is_array()) {
    for (const Json& volume : volumes) {
      const std::string name = api::look_text(volume, "name");
      TRY(auto source, decode_volume(volume, "volume '" + name + "'"));
      out.volumes.emplace(name, std::move(source));
    }
  }
  const std::string restart = api::look_text(spec, "restartPolicy");
  out.restart = restart == "Never"       ? RestartPolicy::kNever
                : restart == "OnFailure" ? RestartPolicy::kOnFailure
                                         : RestartPolicy::kAlways;
  out.node_name = api::look_text(spec, "nodeName");
  out.hostname = api::look_text(spec, "hostname");
  out.subdomain = api::look_text(spec, "subdomain");
  out.host_network = api::look_flag(spec, "hostNetwork");
  out.grace_seconds = number(spec, "terminationGracePeriodSeconds", 30);
  CHECK_DONE(check_mounts(out));
  return out;
}

}  // namespace paddle::local
