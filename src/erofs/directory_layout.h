// SPDX-License-Identifier: Apache-2.0
//
// How the entries of one directory fill blocks: first how many bytes they need, then the bytes.
// Both are given the same names in the same order, sorted bytewise, "." and ".." among them. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddle::erofs {

// Counts; the size of a directory is that of its whole blocks and of what the last one holds.
class DirectorySize {
 public:
  void add(std::size_t name_size);
  std::uint64_t bytes() const { return whole_ + used_; }

 private:
  std::uint64_t whole_ = 0;  // bytes of the blocks before the last
  std::uint64_t used_ = 0;   // of the last
};

class DirectoryEncoder {
 public:
  // The name stays valid until take().
  void add(std::string_view name, std::uint64_t nid, std::uint8_t type);
  // All bytes: whole blocks, and of the last one what is used. Empties the encoder.
  std::string take();

 private:
  struct Entry {
    std::string_view name{};
    std::uint64_t nid = 0;
    std::uint8_t type = 0;
  };
  void flush();

  std::vector<Entry> entries_{};  // of the last block
  std::uint64_t used_ = 0;
  std::string done_{};
};

}  // namespace paddle::erofs
