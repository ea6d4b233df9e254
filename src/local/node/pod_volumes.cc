// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_volumes.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/match.h"
#include "base/unique_fd.h"
#include "local/node/atomic_writer.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

std::optional<gid_t> group_of(const PodSpec& pod) {
  if (pod.containers.empty() || !pod.containers[0].security.fs_group) return std::nullopt;
  return *pod.containers[0].security.fs_group;
}

// Files of a Secret are root's alone unless a container has another user. Others on this machine
// do not reach the volume in either case: the pod's directory is root's.
bool root_only(const PodSpec& pod) {
  const auto is_root = [](const Container& c) { return c.security.user == 0; };
  return std::ranges::all_of(pod.containers, is_root) && std::ranges::all_of(pod.init, is_root);
}

Result<> set_up_empty(const std::string& directory, const PodSpec& pod) {
  CHECK_DONE(make_directory(directory, 01777));
  const auto group = group_of(pod);
  if (!group) return Done{};
  if (chown(directory.c_str(), static_cast<uid_t>(-1), *group) != 0 ||
      chmod(directory.c_str(), 03777) != 0) {
    return os_error("set the group of " + directory);
  }
  return Done{};
}

Result<> set_up_object(const std::string& directory, const ObjectVolume& volume, const PodSpec& pod,
                       const ObjectData& objects) {
  const auto data = volume.secret ? objects.secret(volume.name) : objects.config_map(volume.name);
  if (!data) {
    if (volume.optional) return make_directory(directory, 0755);
    return Error{Code::kNotFound, std::string(volume.secret ? "secret" : "configmap") + " \"" +
                                      volume.name + "\" not found"};
  }
  std::map<std::string, std::string> files;
  for (const auto& [key, path] : volume.items) {
    const auto found = data->find(key);
    if (found == data->end()) {
      return Error{Code::kNotFound, "couldn't find key " + key + " in " + volume.name};
    }
    files[path] = found->second;
  }
  const bool closed = volume.secret && root_only(pod);
  const auto mode = static_cast<mode_t>(closed ? volume.mode & 0600 : volume.mode);
  const mode_t around = closed ? 0700 : 0755;
  return replace_files(directory, volume.items.empty() ? *data : files,
                       {.directory = around, .file = mode, .group = group_of(pod)});
}

Result<> set_up_downward(const std::string& directory, const DownwardVolume& volume,
                         const PodFacts& facts) {
  std::map<std::string, std::string> files;
  for (const auto& [file, path] : volume.files) {
    TRY(files[file], field_value(facts, path));
  }
  return replace_files(directory, files, {.group = group_of(facts.pod)});
}

Result<> set_up_host_path(const HostPathVolume& volume, const std::vector<std::string>& hidden) {
  if (volume.path.empty() || volume.path.front() != '/') {
    return Error{Code::kInvalid, "hostPath '" + volume.path + "' is not absolute"};
  }
  CHECK_DONE(expect_visible(volume.path, hidden));
  if (volume.type == "DirectoryOrCreate") return make_directory(volume.path, 0755);
  if (volume.type == "FileOrCreate") {
    UniqueFd fd(open(volume.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) return os_error("create " + volume.path);
  }
  struct stat found {};
  // It may still be created: the container waits, as with the kubelet.
  if (stat(volume.path.c_str(), &found) != 0) {
    if (errno == ENOENT) return Error{Code::kNotFound, volume.path + " is not on this machine"};
    return os_error("hostPath " + volume.path);
  }
  if (volume.type.starts_with("Directory") && !S_ISDIR(found.st_mode)) {
    return Error{Code::kNotFound, volume.path + " is not a directory"};
  }
  if (volume.type.starts_with("File") && !S_ISREG(found.st_mode)) {
    return Error{Code::kNotFound, volume.path + " is not a file"};
  }
  return Done{};
}

std::string memory_directory(const PodSpec& pod, const std::string& name) {
  return "/dev/shm/paddle-" + pod.meta.uid + "-" + name;
}

}  // namespace

// Also through links.
Result<> expect_visible(const std::string& path, const std::vector<std::string>& hidden) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string();
  for (const std::string& each : hidden) {
    if (real == each || real.starts_with(each + "/")) {
      return Error{Code::kInvalid,
                   path + " belongs to the local cluster itself; pods cannot mount it"};
    }
  }
  return Done{};
}

// No volume has this name.
Result<std::string> set_up_shared_memory(const PodSpec& pod) {
  const std::string directory = memory_directory(pod, ".shm");
  CHECK_DONE(make_directory(directory, 01777));
  return directory;
}

Result<std::map<std::string, std::string>> set_up_volumes(const std::string& pod_directory,
                                                          const PodFacts& facts,
                                                          const ObjectData& objects,
                                                          const VolumeLocator& locator) {
  std::map<std::string, std::string> paths;
  for (const auto& volume : facts.pod.volumes) {
    const std::string& name = volume.first;
    const std::string own = pod_directory + "/volumes/" + name;
    auto placed = std::visit(
        Match{
            [&](const EmptyDirVolume& v) -> Result<std::string> {
              const std::string where = v.memory ? memory_directory(facts.pod, name) : own;
              CHECK_DONE(set_up_empty(where, facts.pod));
              return where;
            },
            [&](const HostPathVolume& v) -> Result<std::string> {
              CHECK_DONE(set_up_host_path(v, locator.hidden));
              return v.path;
            },
            [&](const ObjectVolume& v) -> Result<std::string> {
              CHECK_DONE(set_up_object(own, v, facts.pod, objects));
              return own;
            },
            [&](const ClaimVolume& v) -> Result<std::string> {
              return locator.claim({facts.pod.meta.key.ns, v.claim});
            },
            [&](const DownwardVolume& v) -> Result<std::string> {
              CHECK_DONE(set_up_downward(own, v, facts));
              return own;
            },
            [&](const RuntimeVolume& v) -> Result<std::string> { return locator.runtime(v); },
        },
        volume.second);
    if (!placed) return std::move(placed).error().in("volume " + name);
    paths[name] = *placed;
  }
  return paths;
}

Result<> refresh_downward(const std::string& pod_directory, const PodFacts& facts) {
  for (const auto& [name, source] : facts.pod.volumes) {
    if (const auto* downward = std::get_if<DownwardVolume>(&source)) {
      CHECK_DONE(set_up_downward(pod_directory + "/volumes/" + name, *downward, facts));
    }
  }
  return Done{};
}

Result<> refresh_objects(const std::string& pod_directory, const PodSpec& pod,
                         const ObjectData& objects) {
  Result<> outcome = Done{};
  for (const auto& [name, source] : pod.volumes) {
    const auto* object = std::get_if<ObjectVolume>(&source);
    if (!object) continue;
    auto placed = set_up_object(pod_directory + "/volumes/" + name, *object, pod, objects);
    if (!placed && outcome) outcome = std::move(placed).error().in("volume " + name);
  }
  return outcome;
}

}  // namespace paddle::local
