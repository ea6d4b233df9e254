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
    if (!entry.is_fuse() || !entry.point.starts_with(prefix)) continue;
    log::info("removing a mount that an earlier node left", {{"path", entry.point}});
    ::umount2(entry.point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

}  // namespace

SampleVolumes::SampleVolumes(std::string directory, std::string cache_root, const Clock& clock)
    : directory_(std::move(directory)), cache_root_(std::move(cache_root)), clock_(clock) {
  clear_mounts(directory_ + "/mounts");
}

SampleVolumes::~SampleVolumes() { end(); }

std::string SampleVolumes::record_of(const std::string& handle) const {
  return directory_ + "/caches/" + handle;
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
  for (auto& [handle, users] : users_) users.erase(user);
  std::erase_if(users_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [handle, readers] : readers_) {
    if (readers.erase(user) > 0 && readers.empty()) mounts_.erase(handle);
  }
  std::erase_if(readers_, [](const auto& entry) { return entry.second.empty(); });
}

void SampleVolumes::collect(const std::set<std::string>& existing) {
  Lock lock(mutex_);
  std::set<std::string> known;
  for (const char* kind : {"/caches", "/sessions"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory_ + kind, error)) {
      known.insert(entry.path().filename().string());
    }
  }
  for (const std::string& handle : known) {
    if (existing.contains(handle) || users_.contains(handle)) continue;
    log::info("removing the directories of a volume that is gone", {{"volume", handle}});
    for (const std::string& path : lines_of(record_of(handle))) remove_tree(path);
    remove_tree(record_of(handle));
    remove_tree(directory_ + "/sessions/" + handle);
  }
}

void SampleVolumes::end() {
  Lock lock(mutex_);
  mounts_.clear();
}

}  // namespace paddle::local
