// SPDX-License-Identifier: Apache-2.0
#include "local/node/sample_volumes.h"

#include <filesystem>
#include <fstream>

#include <sys/mount.h>

#include "base/log.h"
#include "fuse/mountinfo.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

Result<> make_private(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error{Code::kInternal, "create " + path + ": " + error.message()};
  fs::permissions(path, fs::perms::owner_all, error);
  return Done{};
}

std::set<std::string> lines_of(const std::string& path) {
  std::set<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.insert(line);
  return lines;
}

void remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log::warn("cannot remove a directory", {{"path", path}, {"error", error.message()}});
}

void clear_mounts(const std::string& directory) {
  std::error_code error;
  const std::string prefix = fs::weakly_canonical(directory, error).string() + "/";
  const auto mounts = fuse::read_mountinfo();
  if (!mounts) return;
  for (const fuse::MountEntry& entry : *mounts) {
    const bool ours = entry.is_fuse() || entry.type == "erofs";
    if (!ours || !entry.point.starts_with(prefix)) continue;
    log::info("removing a mount that an earlier node left", {{"path", entry.point}});
    ::umount2(entry.point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

SetCaches caches_in(const std::string& directory, const std::string& handle) {
  const auto paths = lines_of(directory + "/caches/" + handle);
  return {.directories = {paths.begin(), paths.end()}, .views = directory + "/views/" + handle};
}

// What an earlier node reported about mounts is over.
void forget_views(const std::string& sessions) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sessions, error)) {
    fs::remove(entry.path() / sealed::kViewFile, error);
  }
}

}  // namespace

SampleVolumes::SampleVolumes(std::string directory, std::string cache_root, const Clock& clock,
                             bool seals)
    : directory_(std::move(directory)),
      cache_root_(std::move(cache_root)),
      clock_(clock),
      seals_(seals) {
  for (const char* each : {"/targets", "/views", "/mounts"}) clear_mounts(directory_ + each);
  remove_tree(directory_ + "/targets");
  forget_views(directory_ + "/sessions");
  if (auto lifted = lift_leftovers(directory_); !lifted) {
    log::info("segments of an earlier node stay immutable for now",
              {{"reason", lifted.error().message}});
  }
}

Result<> SampleVolumes::lift_leftovers(const std::string& directory) {
  Result<> done = Done{};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory + "/caches", error)) {
    auto lifted = caches_in(directory, entry.path().filename()).lift_leftovers();
    if (!lifted) done = std::move(lifted);
  }
  return done;
}

SampleVolumes::~SampleVolumes() { end(); }

std::string SampleVolumes::record_of(const std::string& handle) const {
  return directory_ + "/caches/" + handle;
}

SetCaches SampleVolumes::caches_of(const std::string& handle) const {
  return caches_in(directory_, handle);
}

SealedVolume& SampleVolumes::sealed_volume(const std::string& handle) {
  auto& volume = sealed_[handle];
  if (!volume) {
    volume = std::make_unique<SealedVolume>(
        SealedVolumeOptions{.mount = directory_ + "/mounts/" + handle,
                            .session = directory_ + "/sessions/" + handle,
                            .targets = directory_ + "/targets/" + handle,
                            .caches = [this, handle] { return caches_of(handle); },
                            .clock = clock_});
  }
  return *volume;
}

Result<std::string> SampleVolumes::session_of(const std::string& handle, int partition) {
  std::string path = directory_ + "/sessions/" + handle;
  if (partition > 0) path += "/" + std::to_string(partition);
  CHECK_DONE(make_private(path));
  return path;
}

Result<std::string> SampleVolumes::mount(const std::string& handle, const std::string& server,
                                         const std::string& user) {
  Lock lock(mutex_);
  users_[handle].insert(user);
  readers_[handle].insert(user);
  TRY(const std::string session, session_of(handle));
  auto& mount = mounts_[handle];
  if (!mount) {
    mount =
        std::make_unique<ServedMount>(directory_ + "/mounts/" + handle, session, handle, clock_);
  }
  if (auto ready = mount->ready(); !ready) {
    return Error{Code::kUnavailable,
                 "waiting for " + server + " to serve the volume: " + ready.error().message};
  }
  if (!seals_) {
    (void)write_view_state(
        session, {.since = clock_.wall(), .reason = "sealed views are turned off on this node"});
    return mount->point();
  }
  auto target = sealed_volume(handle).publish(user);
  if (target) return target;
  log::warn("a pod mounts FUSE only", {{"mount", handle}, {"reason", target.error().message}});
  return mount->point();
}

Result<std::string> SampleVolumes::place(const RuntimeVolume& volume, const std::string& user,
                                         int partition) {
  Lock lock(mutex_);
  users_[volume.handle].insert(user);
  return volume.session ? session_of(volume.handle, partition) : place_cache(volume, partition);
}

// Recorded before it is created, so that it is removed later in any case.
Result<std::string> SampleVolumes::place_cache(const RuntimeVolume& volume, int partition) {
  std::string path = (volume.path.empty() ? cache_root_ : volume.path) + "/" + volume.handle;
  if (partition > 0) path += "." + std::to_string(partition);
  const std::string record = record_of(volume.handle);
  if (!lines_of(record).contains(path)) {
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_empty(path, error)) {
      return Error{Code::kInvalid, "the cache directory " + path +
                                       " exists and is not ours; move it away or choose "
                                       "another path for the cache"};
    }
    CHECK_DONE(make_private(directory_ + "/caches"));
    std::ofstream file(record, std::ios::app);
    file << path << "\n";
    file.close();
    if (!file) return Error{Code::kInternal, "cannot write " + record + "; is the disk full?"};
  }
  CHECK_DONE(make_private(path));
  return path;
}

void SampleVolumes::release(const std::string& user) {
  Lock lock(mutex_);
  for (auto& [handle, volume] : sealed_) volume->unpublish(user);
  for (auto& [handle, users] : users_) users.erase(user);
  std::erase_if(users_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [handle, readers] : readers_) {
    if (readers.erase(user) > 0 && readers.empty()) mounts_.erase(handle);
  }
  std::erase_if(readers_, [](const auto& entry) { return entry.second.empty(); });
}

bool SampleVolumes::collect(const std::set<std::string>& existing) {
  Lock lock(mutex_);
  std::set<std::string> known;
  for (const char* kind : {"/caches", "/sessions"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory_ + kind, error)) {
      known.insert(entry.path().filename().string());
    }
  }
  bool all = true;
  for (const std::string& handle : known) {
    if (existing.contains(handle) || users_.contains(handle)) continue;
    all = remove_volume(handle) && all;
  }
  return all;
}

bool SampleVolumes::remove_volume(const std::string& handle) {
  if (const auto found = sealed_.find(handle); found != sealed_.end()) {
    if (!found->second->is_idle()) return false;
    sealed_.erase(found);
  }
  if (auto lifted = caches_of(handle).lift_leftovers(); lifted.is(Code::kConflict)) return false;
  log::info("removing the directories of a volume that is gone", {{"volume", handle}});
  for (const std::string& path : lines_of(record_of(handle))) remove_tree(path);
  remove_tree(record_of(handle));
  remove_tree(directory_ + "/sessions/" + handle);
  for (const char* each : {"/targets/", "/views/"}) remove_tree(directory_ + each + handle);
  return true;
}

void SampleVolumes::end() {
  Lock lock(mutex_);
  mounts_.clear();
}

}  // namespace paddle::local
