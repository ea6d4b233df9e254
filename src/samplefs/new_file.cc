// SPDX-License-Identifier: Apache-2.0
#include "samplefs/new_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace paddle::samplefs {
namespace {

Error failed(int number, const std::string& doing) {
  return Error{Code::kUnavailable, doing + ": " + std::strerror(number)};
}

Result<> sync_directory_of(const std::string& path) {
  auto directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) directory = ".";
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failed(errno, "sync the directory of " + path);
  return Done{};
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path, std::size_t size) {
  const std::string temporary = path + ".tmp";
  UniqueFd fd(::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return failed(errno, "create " + temporary);
  NewFile file(path, std::move(fd), nullptr, size);
  if (size == 0) return file;
  const int refused = ::posix_fallocate(file.fd_.get(), 0, static_cast<off_t>(size));
  if (refused != 0)
    return failed(refused, "reserve " + std::to_string(size) + " bytes for " + path);
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd_.get(), 0);
  if (mapped == MAP_FAILED) return failed(errno, "map " + temporary);
  file.bytes_ = static_cast<std::byte*>(mapped);
  return file;
}

Result<> NewFile::publish() {
  if (bytes_ && ::msync(bytes_, size_, MS_SYNC) != 0) return failed(errno, "write " + path_);
  if (::fsync(fd_.get()) != 0) return failed(errno, "sync " + path_);
  if (std::rename(temporary().c_str(), path_.c_str()) != 0)
    return failed(errno, "publish " + path_);
  fd_.reset();  // published: nothing left to remove
  return sync_directory_of(path_);
}

NewFile::~NewFile() {
  if (bytes_) ::munmap(bytes_, size_);
  if (fd_) ::unlink(temporary().c_str());
}

}  // namespace paddle::samplefs
