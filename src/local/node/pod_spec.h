// SPDX-License-Identifier: Apache-2.0
//
// The part of a Pod that a machine without a cluster can run, decoded into values.
//
// Unsupported features that matter are rejected by name (a volume of an unknown kind); others, such
// as probes, are ignored. Images are not pulled: every container sees this machine's own files,
// with a private layer for its writes. Pure.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"
#include "local/node/security_context.h"

namespace paddle::local {

struct EmptyDirVolume {
  bool memory = false;
  bool operator==(const EmptyDirVolume&) const = default;
};
struct HostPathVolume {
  std::string path{};
  std::string type{};  // "", Directory, DirectoryOrCreate, File, FileOrCreate
  bool operator==(const HostPathVolume&) const = default;
};
// A ConfigMap or a Secret: key -> file name; empty = every key under its own name.
struct ObjectVolume {
  bool secret = false;
  std::string name{};
  std::map<std::string, std::string> items{};
  int mode = 0644;
  bool optional = false;
  bool operator==(const ObjectVolume&) const = default;
};
struct ClaimVolume {
  std::string claim{};
  bool read_only = false;
  bool operator==(const ClaimVolume&) const = default;
};
// File name -> field path such as metadata.annotations['a'].
struct DownwardVolume {
  std::map<std::string, std::string> files{};
  bool operator==(const DownwardVolume&) const = default;
};
// An inline volume of our CSI driver, by which a cache runtime requests a directory of the node
// (docs/design/0006).
struct RuntimeVolume {
  bool session = false;  // the session directory of node and runtime; otherwise a cache directory
  std::string handle{};
  std::string path{};  // of a cache: its parent directory; empty = the node's own
  bool operator==(const RuntimeVolume&) const = default;
};
using VolumeSource = std::variant<EmptyDirVolume, HostPathVolume, ObjectVolume, ClaimVolume,
                                  DownwardVolume, RuntimeVolume>;

struct Mount {
  std::string volume{};
  std::string path{};      // absolute, in the container
  std::string sub_path{};  // beneath the volume
  bool read_only = false;
  bool operator==(const Mount&) const = default;
};

// One entry of env: a value, or where it comes from.
struct EnvEntry {
  std::string name{};
  std::string value{};       // may contain $(OTHER)
  std::string field_path{};  // fieldRef
  std::string config_map{};  // configMapKeyRef.name
  std::string secret{};      // secretKeyRef.name
  std::string key{};
  bool optional = false;
  bool operator==(const EnvEntry&) const = default;
};
struct EnvFrom {
  bool secret = false;
  std::string name{};
  std::string prefix{};
  bool optional = false;
  bool operator==(const EnvFrom&) const = default;
};

struct Container {
  std::string name{};
  std::string image{};
  std::vector<std::string> command{};
  std::vector<std::string> args{};
  std::string working_dir{};
  std::vector<EnvEntry> env{};
  std::vector<EnvFrom> env_from{};
  std::vector<Mount> mounts{};
  SecurityContext security{};
  bool operator==(const Container&) const = default;
};

enum class RestartPolicy { kAlways, kOnFailure, kNever };

struct PodSpec {
  api::Meta meta{};
  std::vector<Container> init{};
  std::vector<Container> containers{};
  std::map<std::string, VolumeSource> volumes{};
  RestartPolicy restart = RestartPolicy::kAlways;
  std::string node_name{};
  std::string hostname{};
  std::string subdomain{};  // of the pod's name in DNS
  bool host_network = false;
  int grace_seconds = 30;
  bool operator==(const PodSpec&) const = default;
};

Result<PodSpec> decode_pod_spec(const api::Json& pod);

}  // namespace paddle::local
