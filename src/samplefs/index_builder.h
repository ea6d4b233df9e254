// SPDX-License-Identifier: Apache-2.0
//
// Makes the index file of one generation from listings and from what an earlier generation had, in
// any order. Paths and etags are kept in one arena meanwhile (about 32 bytes a file besides its own
// text); the file itself is written through a mapping, so that a million files stay far below the
// memory budget.
//
// What was listed replaces what was kept at the same path. Where one is named "a" and another "a/b"
// the directory wins, as on no file system both can be; the file is left out, and so is one that is
// larger than any object store's: a size that nobody can have stored is not to be believed. What is
// left out is counted and named by origin. The result is a function of the sets of objects alone,
// not of the order in which they came.
//
// Not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "samplefs/index.h"
#include "source/source.h"

namespace paddle::samplefs {

// What is said of a generation besides what is in it.
struct GenerationInfo {
  std::uint64_t generation = 0;
  std::uint64_t synced = 0;
  std::vector<std::string> ledger{};  // of jobs' ids, each of at most 255 bytes
};

// What an object of S3 may have at most.
inline constexpr std::uint64_t kMaxFileSize = std::uint64_t{50} << 40;
// What all files of one generation may have. All that walks over blocks ends in reasonable time.
inline constexpr std::uint64_t kMaxSetSize = std::uint64_t{4} << 50;

class IndexBuilder {
 public:
  // An object as its source lists it. kInvalid for a path or etag that no listing may give
  // (source/path_rules.h), or that is too long beneath that destination.
  Result<> add(const source::Object& object, const Origin& origin = {});
  // By the listing of that origin, or known from an earlier generation.
  void leave_out(const source::LeftOut& left, const Origin& origin = {});

  // A file of an earlier generation. REQUIRES: `entry` is one of `from`, at `path`.
  void keep(const Index& from, const Index::Entry& entry, std::string_view path);
  // What was listed replaces only what is older, unless both are of the same origin.
  void prefer_newer() { newer_wins_ = true; }

  // Writes `file` whole or not at all: temporary file beside it, fsync, rename. Call once. kInvalid
  // for too many files, or too many bytes in sum.
  Result<> write(const std::string& file, const GenerationInfo& info);
  Result<> write(const std::string& file, std::uint64_t generation) {
    return write(file, {.generation = generation, .synced = generation});
  }

  std::uint64_t listed() const { return listed_; }

 private:
  struct Entry {
    const char* text = nullptr;  // path, then etag
    std::uint64_t size = 0;
    std::int64_t modified_us = 0;
    std::uint16_t path_size = 0;
    std::uint8_t etag_size = 0;
    bool kept = false;
    std::uint32_t origin = 0;
    std::string_view path() const { return {text, path_size}; }
    std::string_view etag() const { return {text + path_size, etag_size}; }
  };
  struct Shape {
    std::uint32_t nodes = 1;
    std::uint64_t text_size = 0;
  };
  // The origins of files that are left, in the order of the file; and what becomes of our numbers.
  struct Table {
    std::vector<Origin> origins{};
    std::vector<std::uint32_t> numbers{};
    std::vector<OriginId> ids{};  // by our numbers
  };
  class Writer;

  char* room_for(std::size_t size);
  void push(const source::Object& object, std::string_view path, const Origin& origin, bool kept);
  std::uint32_t number_of(const Origin& origin);
  static bool before(const Entry& a, const Entry& b);
  Entry winner_of(std::span<const Entry> same_path) const;
  void settle();  // sorted, each path once, nothing both file and directory
  Result<Shape> shape() const;
  Table table() const;

  std::vector<Entry> entries_{};
  std::vector<Origin> origins_{{}};
  std::uint64_t listed_ = 0;
  bool newer_wins_ = false;
  std::vector<std::unique_ptr<char[]>> chunks_{};
  std::size_t used_ = 0;  // of the last chunk
  LeftOutNotes left_out_{};
};

}  // namespace paddle::samplefs
