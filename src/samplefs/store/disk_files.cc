// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/disk_files.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <xxhash.h>

#include "base/unique_fd.h"

namespace paddle::samplefs {
namespace {

constexpr int kDontCache = 0x80;  // RWF_DONTCACHE, Linux 6.14; Debian 12's headers are older

// Moves `parts` on by what was transferred; returns what is left.
std::size_t advance(std::array<iovec, 2>& parts, std::size_t done) {
  std::size_t left = 0;
  for (iovec& part : parts) {
    const std::size_t size = std::min(done, part.iov_len);
    part.iov_base = static_cast<char*>(part.iov_base) + size;
    part.iov_len -= size;
    done -= size;
    left += part.iov_len;
  }
  return left;
}

class DiskFile final : public StoreFile {
 public:
  DiskFile(UniqueFd fd, bool direct, bool uncached)
      : fd_(std::move(fd)), direct_(direct), flags_(uncached ? kDontCache : 0) {}

  int read(std::uint64_t offset, std::span<std::byte> first, std::span<std::byte> second) override {
    return transfer(::preadv2, offset, {first.data(), first.size()}, {second.data(), second.size()},
                    ENODATA);
  }
  int write(std::uint64_t offset, std::span<const std::byte> first,
            std::span<const std::byte> second) override {
    // NOLINTBEGIN: an iovec is not const even when it is only written from.
    return transfer(::pwritev2, offset, {const_cast<std::byte*>(first.data()), first.size()},
                    {const_cast<std::byte*>(second.data()), second.size()}, ENOSPC);
    // NOLINTEND
  }
  int sync() override { return ::fdatasync(fd_.get()) == 0 ? 0 : errno; }
  int punch(std::uint64_t offset, std::uint64_t length) override {
    const int done = ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 static_cast<off_t>(offset), static_cast<off_t>(length));
    return done == 0 ? 0 : errno;
  }
  int size(FileSize& into) override {
    struct stat seen {};
    if (::fstat(fd_.get(), &seen) != 0) return errno;
    into = {.bytes = static_cast<std::uint64_t>(seen.st_size),
            .allocated = static_cast<std::uint64_t>(seen.st_blocks) * 512,
            .linked = seen.st_nlink > 0};
    return 0;
  }

 private:
  template <typename Call>
  int transfer(Call call, std::uint64_t offset, iovec first, iovec second, int nothing_done) {
    std::array<iovec, 2> parts{first, second};
    std::size_t left = first.iov_len + second.iov_len;
    while (left > 0) {
      const int flags = flags_.load(std::memory_order_relaxed);
      const ssize_t done = call(fd_.get(), parts.data(), 2, static_cast<off_t>(offset), flags);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0 && (errno == EOPNOTSUPP || errno == EINVAL) && do_without()) continue;
      if (done < 0) return errno;
      if (done == 0) return nothing_done;
      offset += static_cast<std::uint64_t>(done);
      left = advance(parts, static_cast<std::size_t>(done));
      // The rest of a short transfer may not be aligned any more.
      if (left > 0 && done % 4096 != 0) stop_direct();
    }
    return 0;
  }
  // Some file systems refuse direct I/O, or the hint, only when it is used.
  bool do_without() {
    if (flags_.exchange(0, std::memory_order_relaxed) != 0) return true;
    return stop_direct();
  }
  bool stop_direct() {
    if (!direct_.exchange(false, std::memory_order_relaxed)) return false;
    const int flags = ::fcntl(fd_.get(), F_GETFL);
    return flags >= 0 && ::fcntl(fd_.get(), F_SETFL, flags & ~O_DIRECT) == 0;
  }

  const UniqueFd fd_;
  std::atomic<bool> direct_;
  std::atomic<int> flags_;
};

class DiskDirectory final : public StoreDirectory {
 public:
  explicit DiskDirectory(UniqueFd root) : root_(std::move(root)) {}

  int open(const std::string& name, OpenMode mode, Caching caching,
           std::unique_ptr<StoreFile>& into) override {
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    flags |= mode == OpenMode::kRead ? O_RDONLY : O_RDWR;
    if (mode == OpenMode::kCreate) flags |= O_CREAT | O_EXCL;
    const bool wanted = caching == Caching::kDirect;
    bool direct = wanted;
    UniqueFd fd(::openat(root_.get(), name.c_str(), flags | (direct ? O_DIRECT : 0), 0600));
    if (!fd && direct && errno == EINVAL) {
      direct = false;
      if (mode == OpenMode::kCreate) ::unlinkat(root_.get(), name.c_str(), 0);
      fd = UniqueFd(::openat(root_.get(), name.c_str(), flags, 0600));
    }
    if (!fd) return errno;
    struct stat seen {};
    if (::fstat(fd.get(), &seen) != 0) return errno;
    if (!S_ISREG(seen.st_mode)) return ENXIO;
    into = std::make_unique<DiskFile>(std::move(fd), direct, wanted && !direct);
    return 0;
  }
  int rename(const std::string& from, const std::string& to) override {
    return ::renameat(root_.get(), from.c_str(), root_.get(), to.c_str()) == 0 ? 0 : errno;
  }
  int remove(const std::string& name) override {
    return ::unlinkat(root_.get(), name.c_str(), 0) == 0 ? 0 : errno;
  }
  int remove_tree(const std::string& name) override {
    std::error_code failed;
    std::filesystem::remove_all("/proc/self/fd/" + std::to_string(root_.get()) + "/" + name,
                                failed);
    return failed.value();
  }
  int sync() override { return ::fsync(root_.get()) == 0 ? 0 : errno; }
  int list(std::vector<std::string>& names) override {
    const int copy = ::openat(root_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return errno;
    DIR* stream = ::fdopendir(copy);
    if (stream == nullptr) {
      const int number = errno;
      ::close(copy);
      return number;
    }
    while (const dirent* entry = ::readdir(stream)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    ::closedir(stream);
    return 0;
  }
  int space(DiskSpace& into) override {
    struct statvfs seen {};
    if (::fstatvfs(root_.get(), &seen) != 0) return errno;
    into = {.size = seen.f_blocks * seen.f_frsize, .available = seen.f_bavail * seen.f_frsize};
    return 0;
  }
  int lock() override {
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    lock_ = UniqueFd(::openat(root_.get(), "lock", kFlags, 0600));
    if (!lock_) return errno;
    return ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  }
  void unlock() override { lock_.reset(); }
  bool in_place() override {
    struct stat seen {};
    return lock_ && ::fstat(lock_.get(), &seen) == 0 && seen.st_nlink > 0;
  }

 private:
  const UniqueFd root_;
  UniqueFd lock_{};
};

class DiskFiles final : public FileLayer {
 public:
  DiskFiles() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    boot_ = XXH3_64bits(id.data(), id.size());
  }
  int open_directory(const std::string& path, bool create,
                     std::unique_ptr<StoreDirectory>& into) override {
    if (create) {
      std::error_code ignored;  // errors show when it is opened
      std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
      ::mkdir(path.c_str(), 0700);
    }
    UniqueFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return errno;
    into = std::make_unique<DiskDirectory>(std::move(root));
    return 0;
  }
  std::uint64_t boot() override { return boot_; }

 private:
  std::uint64_t boot_ = 0;
};

}  // namespace

FileLayer& disk_files() {
  static DiskFiles files;
  return files;
}

}  // namespace paddle::samplefs
