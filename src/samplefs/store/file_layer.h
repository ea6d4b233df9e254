// SPDX-License-Identifier: Apache-2.0
//
// The few file calls that a store makes, so that a test can fail each of them, or lose what was not
// synced (memory_files.h). disk_files.h has the real ones.
//
// Calls return 0 or an errno. Thread-safe, except that one name is created, renamed or removed by
// one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace paddle::samplefs {

struct FileSize {
  std::uint64_t bytes = 0;
  std::uint64_t allocated = 0;  // on disk
  bool linked = true;           // it still has its name
};

// What was opened for direct I/O is read and written at multiples of 4096 only, in memory that is
// aligned alike; a file system that refuses direct I/O is used without.
class StoreFile {
 public:
  virtual ~StoreFile() = default;
  // Fill `first`, then `second`. ENODATA: the file ends before.
  virtual int read(std::uint64_t offset, std::span<std::byte> first,
                   std::span<std::byte> second = {}) = 0;
  virtual int write(std::uint64_t offset, std::span<const std::byte> first,
                    std::span<const std::byte> second = {}) = 0;
  virtual int sync() = 0;  // fdatasync
  virtual int punch(std::uint64_t offset, std::uint64_t length) = 0;
  virtual int size(FileSize& into) = 0;
};

enum class OpenMode { kRead, kReadWrite, kCreate };  // kCreate: EEXIST when there is one
enum class Caching { kBuffered, kDirect };

struct DiskSpace {
  std::uint64_t size = 0;
  std::uint64_t available = 0;
};

class StoreDirectory {
 public:
  virtual ~StoreDirectory() = default;
  virtual int open(const std::string& name, OpenMode mode, Caching caching,
                   std::unique_ptr<StoreFile>& into) = 0;
  virtual int rename(const std::string& from, const std::string& to) = 0;
  virtual int remove(const std::string& name) = 0;
  virtual int remove_tree(const std::string& name) = 0;
  virtual int sync() = 0;
  virtual int list(std::vector<std::string>& names) = 0;
  virtual int space(DiskSpace& into) = 0;
  // EWOULDBLOCK: another process holds it. Held until unlock() or the end.
  virtual int lock() = 0;
  virtual void unlock() = 0;
  // Whether the locked file still has its name: the directory may have been emptied.
  virtual bool in_place() = 0;
};

class FileLayer {
 public:
  virtual ~FileLayer() = default;
  // `create`: when missing, with mode 0700.
  virtual int open_directory(const std::string& path, bool create,
                             std::unique_ptr<StoreDirectory>& into) = 0;
  // The same number as long as nothing that was written can be lost by a power failure.
  virtual std::uint64_t boot() = 0;
};

}  // namespace paddle::samplefs
