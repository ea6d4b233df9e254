// SPDX-License-Identifier: Apache-2.0
//
// A file of known size that is written through a mapping and replaced atomically: until publish()
// returns, the name refers to the old file (or none). Space is reserved first, so that a full disk
// is an error and not a SIGBUS. One writer at a time per name.

#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::samplefs {

class NewFile {
 public:
  static Result<NewFile> create(const std::string& path, std::size_t size);  // mode 0600
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)),
        fd_(std::move(other.fd_)),
        bytes_(std::exchange(other.bytes_, nullptr)),
        size_(other.size_) {}
  ~NewFile();  // unpublished: removed

  std::byte* bytes() { return bytes_; }
  Result<> publish();  // fsync, rename, fsync of the directory

 private:
  NewFile(std::string path, UniqueFd fd, std::byte* bytes, std::size_t size)
      : path_(std::move(path)), fd_(std::move(fd)), bytes_(bytes), size_(size) {}
  std::string temporary() const { return path_ + ".tmp"; }

  std::string path_;
  UniqueFd fd_;
  std::byte* bytes_;
  std::size_t size_;
};

}  // namespace paddle::samplefs
