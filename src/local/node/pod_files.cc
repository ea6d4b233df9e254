// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_files.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/unique_fd.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedMemory = "/dev/shm";

std::string name_link(const std::string& root, const api::ObjectKey& key) {
  return root + "/names/" + key.ns + "_" + key.name;
}

Error failed(const std::string& doing, const std::error_code& error) {
  return Error{Code::kInternal, doing + ": " + error.message()};
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) {
    log::warn("cannot remove the files of a pod",
              {{"path", path.string()}, {"error", error.message()}});
  }
}

// emptyDirs in memory: paddle-<uid>-<volume>.
void remove_shared_memory(const std::string& uid) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kSharedMemory, error)) {
    if (entry.path().filename().string().starts_with("paddle-" + uid + "-")) {
      remove_tree(entry.path());
    }
  }
}

void remove_names_of(const std::string& root, const std::string& uid) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/names", error)) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored).filename() == uid) {
      fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace

std::string pod_directory(const std::string& root, const std::string& uid) {
  return root + "/pods/" + uid;
}

std::string log_path(const std::string& root, const std::string& uid, const std::string& container,
                     int nth) {
  return pod_directory(root, uid) + "/logs/" + container + "." + std::to_string(nth) + ".log";
}

Result<> make_pod_files(const std::string& root, const PodSpec& pod) {
  const std::string directory = pod_directory(root, pod.meta.uid);
  const std::string names = directory + "/containers.txt";
  std::error_code error;
  if (fs::exists(names, error)) return Done{};
  for (const std::string& path : {directory + "/logs", root + "/names"}) {
    fs::create_directories(path, error);
    if (error) return failed("create " + path, error);
  }
  fs::permissions(directory, fs::perms::owner_all, error);
  const std::string link = name_link(root, pod.meta.key);
  fs::remove(link, error);
  fs::create_symlink("../pods/" + pod.meta.uid, link, error);
  if (error) return failed("create " + link, error);

  std::ofstream list(names);
  for (const auto* containers : {&pod.containers, &pod.init}) {
    for (const Container& c : *containers) list << c.name << "\n";
  }
  list.close();
  if (!list) return Error{Code::kInternal, "cannot write " + names + "; is the disk full?"};
  return Done{};
}

Result<std::string> write_hosts(const std::string& root, const std::string& uid,
                                const std::string& address, const std::string& hostname,
                                const std::string& service_lines) {
  const std::string path = pod_directory(root, uid) + "/hosts";
  std::ifstream machine("/etc/hosts");
  std::string text;
  for (std::string line; std::getline(machine, line);) text += line + "\n";
  text += address + "\t" + hostname + "\n" + service_lines;

  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  struct stat before {};
  if (!file || fstat(file.get(), &before) != 0) return os_error("open " + path);
  const auto size = static_cast<off_t>(text.size());
  // Empty lines cover what is left of a longer version until the file is cut.
  if (before.st_size > size) text.append(static_cast<std::size_t>(before.st_size - size), '\n');
  const ssize_t written = pwrite(file.get(), text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size()) || ftruncate(file.get(), size) != 0) {
    return Error{Code::kInternal, "cannot write " + path + "; is the disk full?"};
  }
  return path;
}

void mark_log_ended(const std::string& root, const std::string& uid, const std::string& container,
                    int nth) {
  std::ofstream(fs::path(log_path(root, uid, container, nth)).replace_extension(".ended"));
}

void forget_logs_before(const std::string& root, const std::string& uid,
                        const std::string& container, int nth) {
  if (nth <= 0) return;
  std::error_code ignored;
  fs::path old = log_path(root, uid, container, nth - 1);
  fs::remove(old, ignored);
  fs::remove(old.replace_extension(".ended"), ignored);
}

void remove_pod_data(const std::string& root, const std::string& uid) {
  const std::string directory = pod_directory(root, uid);
  remove_tree(directory + "/containers");
  remove_tree(directory + "/volumes");
  remove_shared_memory(uid);
}

void remove_pod_files(const std::string& root, const std::string& uid) {
  remove_names_of(root, uid);
  remove_tree(pod_directory(root, uid));
  remove_shared_memory(uid);
}

void remove_unknown_pod_files(const std::string& root, const std::set<std::string>& known) {
  std::set<std::string> unknown;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/pods", error)) {
    const std::string uid = entry.path().filename().string();
    if (!known.contains(uid)) unknown.insert(uid);
  }
  for (const std::string& uid : unknown) {
    log::info("removing the files of a pod that is gone", {{"uid", uid}});
    remove_pod_files(root, uid);
  }
}

}  // namespace paddle::local
