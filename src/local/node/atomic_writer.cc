// SPDX-License-Identifier: Apache-2.0
#include "local/node/atomic_writer.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVersionPrefix = "..v";
constexpr const char* kData = "..data";

// A key must not lead out of its directory nor collide with our own names.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && !name.starts_with("..") &&
         name.find('/') == std::string::npos;
}

// For a group that owns a volume: it may read everything, and new files belong to it.
FileModes with_group(FileModes modes) {
  if (!modes.group) return modes;
  return {.directory = modes.directory | S_ISGID | 0050,
          .file = modes.file | 0040,
          .group = modes.group};
}

Result<> give(const std::string& path, std::optional<gid_t> group) {
  if (group && lchown(path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    return os_error("set the group of " + path);
  }
  return Done{};
}

Result<> write_file(const std::string& path, const std::string& text, mode_t mode,
                    std::optional<gid_t> group) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) return os_error("write " + path);
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0) return os_error("write " + path);
    done += static_cast<size_t>(wrote);
  }
  CHECK_DONE(give(path, group));
  if (fchmod(fd.get(), mode) != 0) return os_error("set the mode of " + path);
  return Done{};
}

// Created, owned by the group, with its mode.
Result<> make_owned(const std::string& path, const FileModes& modes) {
  CHECK_DONE(make_directory(path, modes.directory));
  CHECK_DONE(give(path, modes.group));
  // A change of the group clears the bit by which files inherit it.
  if (modes.group && chmod(path.c_str(), modes.directory) != 0) {
    return os_error("set the mode of " + path);
  }
  return Done{};
}

std::string target_of(const std::string& link) {
  std::error_code error;
  return fs::read_symlink(link, error).string();
}

// Replaces a link or file by one rename.
Result<> point_link(const std::string& directory, const std::string& name,
                    const std::string& target) {
  const std::string link = directory + "/" + name;
  if (target_of(link) == target) return Done{};
  const std::string fresh = directory + "/..new";
  unlink(fresh.c_str());
  if (symlink(target.c_str(), fresh.c_str()) != 0) return os_error("write " + link);
  if (rename(fresh.c_str(), link.c_str()) != 0) return os_error("put " + link + " in place");
  return Done{};
}

std::map<std::string, std::string> files_in(const std::string& directory) {
  std::map<std::string, std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::ifstream file(entry.path(), std::ios::binary);
    found[entry.path().filename().string()] =
        std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return found;
}

std::string version_after(const std::string& current) {
  int number = 0;
  if (current.starts_with(kVersionPrefix)) {
    const char* const end = current.data() + current.size();
    std::from_chars(current.data() + kVersionPrefix.size(), end, number);
  }
  return std::string(kVersionPrefix) + std::to_string(number + 1);
}

// Removes other names and older versions.
void sweep(const std::string& directory, const std::string& version,
           const std::map<std::string, std::string>& files) {
  std::set<fs::path> leaving;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name != kData && name != version && !files.contains(name)) leaving.insert(entry.path());
  }
  for (const fs::path& path : leaving) fs::remove_all(path, error);
}

}  // namespace

Result<> make_directory(const std::string& path, mode_t mode) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error{Code::kInternal, "create " + path + ": " + error.message()};
  if (chmod(path.c_str(), mode) != 0) return os_error("set the mode of " + path);
  return Done{};
}

Result<> replace_files(const std::string& directory,
                       const std::map<std::string, std::string>& files, FileModes given) {
  const FileModes modes = with_group(given);
  for (const auto& entry : files) {
    if (!is_plain_name(entry.first)) {
      return Error{Code::kInvalid, "'" + entry.first + "' is not a file name"};
    }
  }
  CHECK_DONE(make_owned(directory, modes));
  std::string version = target_of(directory + "/" + kData);
  if (version.empty() || files_in(directory + "/" + version) != files) {
    version = version_after(version);
    const std::string fresh = directory + "/" + version;
    std::error_code error;
    fs::remove_all(fresh, error);  // left incomplete by a killed process
    CHECK_DONE(make_owned(fresh, modes));
    for (const auto& [name, text] : files) {
      CHECK_DONE(write_file(fresh + "/" + name, text, modes.file, modes.group));
    }
    CHECK_DONE(point_link(directory, kData, version));
  }
  for (const auto& entry : files) {
    CHECK_DONE(point_link(directory, entry.first, std::string(kData) + "/" + entry.first));
  }
  sweep(directory, version, files);
  return Done{};
}

}  // namespace paddle::local
