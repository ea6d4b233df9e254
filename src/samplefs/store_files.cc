// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store_files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace paddle::samplefs {
namespace {

constexpr const char* kBlocks = "blocks.1";
constexpr const char* kTemporary = "tmp.1";

Error failed(const std::string& doing) {
  return Error{Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

std::string folder(int number) {
  char text[32];
  std::snprintf(text, sizeof text, "%s/%02x", kBlocks, static_cast<unsigned>(number) & 0xffu);
  return text;
}

Result<> make(int root, const std::string& name) {
  if (::mkdirat(root, name.c_str(), 0700) != 0 && errno != EEXIST) return failed("make " + name);
  return Done{};
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// kNotFound when there is none.
Result<Directory> open_folder(int root, const std::string& name) {
  UniqueFd fd(::openat(root, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return Error{Code::kNotFound, "no such directory"};
  if (!fd) return failed("open " + name);
  Directory directory(::fdopendir(fd.get()));
  if (!directory) return failed("open " + name);
  (void)fd.release();  // owned by the stream
  return directory;
}

Result<> empty_temporary(int root) {
  TRY(const Directory directory, open_folder(root, kTemporary));
  while (const dirent* entry = ::readdir(directory.get())) {
    if (entry->d_name[0] != '.') ::unlinkat(::dirfd(directory.get()), entry->d_name, 0);
  }
  return Done{};
}

}  // namespace

Result<StoreFolders> open_store_folders(const std::string& directory) {
  std::error_code ignored;  // errors show when it is opened
  std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), ignored);
  ::mkdir(directory.c_str(), 0700);
  StoreFolders folders;
  folders.root = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folders.root) return failed("open the cache directory");
  const int root = folders.root.get();
  folders.lock = UniqueFd(::openat(root, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!folders.lock) return failed("open the lock of the cache directory");
  if (::flock(folders.lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{Code::kConflict, "the cache directory is in use by another process"};
  }
  CHECK_DONE(make(root, kBlocks));
  CHECK_DONE(make(root, kTemporary));
  CHECK_DONE(empty_temporary(root));
  return folders;
}

std::string block_file(const BlockKey& key) {
  return folder(static_cast<int>(key.high >> 56)) + "/" + hex(key);
}

int publish_block(int root, const std::string& temporary, const BlockKey& key) {
  const std::string target = block_file(key);
  if (::renameat(root, temporary.c_str(), root, target.c_str()) == 0) return 0;
  if (errno != ENOENT) return errno;
  ::mkdirat(root, folder(static_cast<int>(key.high >> 56)).c_str(), 0700);  // the first in it
  return ::renameat(root, temporary.c_str(), root, target.c_str()) == 0 ? 0 : errno;
}

std::string temporary_file(std::uint64_t number) {
  return std::string(kTemporary) + "/" + std::to_string(number);
}

Result<> for_each_block(int root, const BlockVisitor& visit) {
  for (int number = 0; number < 256; ++number) {
    auto opened = open_folder(root, folder(number));
    if (opened.is(Code::kNotFound)) continue;
    TRY(const Directory directory, std::move(opened));
    const int at = ::dirfd(directory.get());
    while (const dirent* entry = ::readdir(directory.get())) {
      BlockKey key;
      struct stat file {};
      if (!parse_hex(entry->d_name, key) || static_cast<int>(key.high >> 56) != number ||
          ::fstatat(at, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(file.st_mode)) {
        continue;
      }
      if (!visit(key, static_cast<std::uint64_t>(file.st_size))) {
        ::unlinkat(at, entry->d_name, 0);
      }
    }
  }
  return Done{};
}

}  // namespace paddle::samplefs
