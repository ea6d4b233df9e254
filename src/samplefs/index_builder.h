// SPDX-License-Identifier: Apache-2.0
//
// Makes the index file of one generation from a listing, in any order. Paths and etags are kept in
// one arena while the listing runs (about 32 bytes a file besides its own text); the file itself is
// written through a mapping, so that a million files stay far below the memory budget.
//
// Where the listing names both "a" and "a/b" the directory wins, as on no file system both can be;
// the file is counted as left out. The result is a function of the set of objects alone, not of the
// order in which they came.
//
// Not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "source/source.h"

namespace paddle::samplefs {

class IndexBuilder {
 public:
  // kInvalid for a path or etag that no listing may give (source/path_rules.h).
  Result<> add(const source::Object& object);
  void leave_out(std::uint64_t count) { left_out_ += count; }  // counted by the listing

  // Writes `file` whole or not at all: temporary file beside it, fsync, rename. Call once.
  Result<> write(const std::string& file, std::uint64_t generation);

 private:
  struct Entry {
    const char* text = nullptr;  // path, then etag
    std::uint64_t size = 0;
    std::int64_t modified_us = 0;
    std::uint16_t path_size = 0;
    std::uint8_t etag_size = 0;
    std::string_view path() const { return {text, path_size}; }
    std::string_view etag() const { return {text + path_size, etag_size}; }
  };
  struct Shape {
    std::uint32_t nodes = 1;
    std::uint64_t text_size = 0;
  };
  class Writer;

  char* room_for(std::size_t size);
  static bool before(const Entry& a, const Entry& b);
  void settle();  // sorted, each path once, nothing both file and directory
  Result<Shape> shape() const;

  std::vector<Entry> entries_{};
  std::vector<std::unique_ptr<char[]>> chunks_{};
  std::size_t used_ = 0;  // of the last chunk
  std::uint64_t left_out_ = 0;
};

}  // namespace paddle::samplefs
