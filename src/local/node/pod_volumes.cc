// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_volumes.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/match.h"
#include "base/unique_fd.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

Result<> make_directory(const std::string& path, mode_t mode) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error{Code::kInternal, "create " + path + ": " + error.message()};
  if (chmod(path.c_str(), mode) != 0) return os_error("set the mode of " + path);
  return Done{};
}

// A plain file name: what a ConfigMap calls a key must not lead out of its directory.
bool plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

Result<> write_file(const std::string& directory, const std::string& name, const std::string& text,
                    mode_t mode) {
  if (!plain(name)) return Error{Code::kInvalid, "'" + name + "' is not a file name"};
  const std::string path = directory + "/" + name;
  const std::string fresh = directory + "/..new-" + name;
  UniqueFd fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) return os_error("write " + path);
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0) return os_error("write " + path);
    done += static_cast<size_t>(wrote);
  }
  if (fchmod(fd.get(), mode) != 0) return os_error("set the mode of " + path);
  if (rename(fresh.c_str(), path.c_str()) != 0) return os_error("put " + path + " in place");
  return Done{};
}

Result<> place_object(const std::string& directory, const ObjectVolume& volume,
                      const ObjectData& objects) {
  const auto data = volume.secret ? objects.secret(volume.name) : objects.config_map(volume.name);
  CHECK_DONE(make_directory(directory, volume.secret ? 0700 : 0755));
  if (!data) {
    if (volume.optional) return Done{};
    return Error{Code::kNotFound, std::string(volume.secret ? "secret" : "configmap") + " \"" +
                                      volume.name + "\" not found"};
  }
  const auto mode = static_cast<mode_t>(volume.secret ? volume.mode & 0600 : volume.mode);
  if (volume.items.empty()) {
    for (const auto& [key, value] : *data) CHECK_DONE(write_file(directory, key, value, mode));
    return Done{};
  }
  for (const auto& [key, path] : volume.items) {
    const auto found = data->find(key);
    if (found == data->end()) {
      return Error{Code::kNotFound, "couldn't find key " + key + " in " + volume.name};
    }
    CHECK_DONE(write_file(directory, path, found->second, mode));
  }
  return Done{};
}

Result<> place_downward(const std::string& directory, const DownwardVolume& volume,
                        const PodFacts& facts) {
  CHECK_DONE(make_directory(directory, 0755));
  for (const auto& [file, path] : volume.files) {
    TRY(const std::string value, field_value(facts, path));
    CHECK_DONE(write_file(directory, file, value, 0644));
  }
  return Done{};
}

Result<> place_host_path(const HostPathVolume& volume) {
  if (volume.path.empty() || volume.path.front() != '/') {
    return Error{Code::kInvalid, "hostPath '" + volume.path + "' is not absolute"};
  }
  if (volume.type == "DirectoryOrCreate") return make_directory(volume.path, 0755);
  if (volume.type == "FileOrCreate") {
    UniqueFd fd(open(volume.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) return os_error("create " + volume.path);
  }
  if (access(volume.path.c_str(), F_OK) != 0) return os_error("hostPath " + volume.path);
  return Done{};
}

}  // namespace

Result<std::map<std::string, std::string>> place_volumes(const std::string& pod_directory,
                                                         const PodFacts& facts,
                                                         const ObjectData& objects,
                                                         const VolumePlaces& places) {
  std::map<std::string, std::string> paths;
  for (const auto& volume : facts.pod.volumes) {
    const std::string& name = volume.first;
    const std::string own = pod_directory + "/volumes/" + name;
    auto placed = std::visit(
        Match{
            [&](const EmptyDirVolume& v) -> Result<std::string> {
              const std::string memory = "/dev/shm/paddle-" + facts.pod.meta.uid + "-" + name;
              const std::string& where = v.memory ? memory : own;
              CHECK_DONE(make_directory(where, 01777));
              return where;
            },
            [&](const HostPathVolume& v) -> Result<std::string> {
              CHECK_DONE(place_host_path(v));
              return v.path;
            },
            [&](const ObjectVolume& v) -> Result<std::string> {
              CHECK_DONE(place_object(own, v, objects));
              return own;
            },
            [&](const ClaimVolume& v) -> Result<std::string> {
              return places.claim({facts.pod.meta.key.ns, v.claim});
            },
            [&](const DownwardVolume& v) -> Result<std::string> {
              CHECK_DONE(place_downward(own, v, facts));
              return own;
            },
            [&](const RuntimeVolume& v) -> Result<std::string> { return places.runtime(v); },
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
      CHECK_DONE(place_downward(pod_directory + "/volumes/" + name, *downward, facts));
    }
  }
  return Done{};
}

}  // namespace paddle::local
