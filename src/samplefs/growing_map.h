// SPDX-License-Identifier: Apache-2.0
//
// Memory that grows at its end and never moves, in a file without a name: the kernel writes it to
// the disk when memory is short, so that it does not count against a limit of memory. Without a
// directory it is ordinary memory. Space is reserved before it is used, so that a full disk is an
// error and not a SIGBUS.
//
// Not thread-safe.

#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::samplefs {

class GrowingMap {
 public:
  explicit GrowingMap(std::string directory = {}) : directory_(std::move(directory)) {}
  ~GrowingMap();
  GrowingMap(const GrowingMap&) = delete;
  GrowingMap& operator=(const GrowingMap&) = delete;

  // Room for `bytes` more behind what was taken so far, zeroed. kUnavailable when the disk is full.
  Result<std::byte*> take(std::size_t bytes);
  std::byte* begin() const { return base_; }  // null before the first take()
  std::size_t size() const { return taken_; }

 private:
  Result<> extend(std::size_t to);

  const std::string directory_;
  UniqueFd file_;
  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;  // bytes that can be used
  std::size_t taken_ = 0;
};

}  // namespace paddle::samplefs
