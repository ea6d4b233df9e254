// SPDX-License-Identifier: Apache-2.0
//
// Builds the index file of one generation from listings and from entries of an earlier generation,
// added in any order. Meanwhile they are in a temporary file (growing_map.h): 40 bytes and the
// texts of each; the index itself is written through a mapping. So the anonymous memory that it
// takes does not grow with the number of files, and the kernel writes the rest to the disk when
// memory is short.
//
// A listed object replaces a kept one at the same path. If one object is named "a" and another
// "a/b", the directory wins, because a file system cannot have both; the file is left out. An
// object that is larger than any object store allows is left out as well. Objects that are left out
// are counted and named by origin. The result depends on the set of objects only, not on their
// order.
//
// Not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "samplefs/growing_map.h"
#include "samplefs/index.h"
#include "source/source.h"

namespace paddle::samplefs {

// Metadata of a generation.
struct GenerationInfo {
  std::uint64_t generation = 0;
  std::uint64_t synced = 0;
  std::vector<std::string> ledger{};  // ids of jobs, at most 255 bytes each
};

// Maximum size of an S3 object.
inline constexpr std::uint64_t kMaxFileSize = std::uint64_t{50} << 40;
// Maximum size of all files of a generation, so that loops over blocks end in reasonable time.
inline constexpr std::uint64_t kMaxSetSize = std::uint64_t{4} << 50;

class IndexBuilder {
 public:
  // `scratch`: a directory for the temporary file; empty: in memory.
  explicit IndexBuilder(const std::string& scratch = {})
      : scratch_(scratch), entries_(std::make_unique<GrowingMap>(scratch)), texts_(scratch) {}

  // Adds an object of a listing. kInvalid for a path or etag that is not valid
  // (source/path_rules.h). One whose path becomes too long beneath the destination is left out.
  Result<> add(const source::Object& object, const Origin& origin = {});
  // Adds objects that the listing of the origin left out, or that an earlier generation recorded.
  void leave_out(const source::LeftOut& left, const Origin& origin = {});

  // Keeps a file of an earlier generation. REQUIRES: `entry` is an entry of `from`, at `path`. A
  // failure is returned by write(). What was added before the first one that is kept and what
  // follows are sorted if they need it, and merged as streams.
  void keep(const Index& from, const Index::Entry& entry, std::string_view path);
  // Listed objects replace only older ones, unless both have the same origin.
  void prefer_newer() { newer_wins_ = true; }

  // Writes `file` atomically: temporary file, fsync, rename. Call once. kInvalid for too many files
  // or too many bytes.
  Result<> write(const std::string& file, const GenerationInfo& info);
  Result<> write(const std::string& file, std::uint64_t generation) {
    return write(file, {.generation = generation, .synced = generation});
  }

  std::uint64_t listed() const { return listed_; }

 private:
  struct Entry {
    const char* text = nullptr;  // path, then etag, then version id
    std::uint64_t size = 0;
    std::int64_t modified_us = 0;
    std::uint16_t path_size = 0;
    std::uint8_t etag_size = 0;
    std::uint8_t version_size = 0;
    bool kept = false;
    std::uint32_t origin = 0;
    std::string_view path() const { return {text, path_size}; }
    std::string_view etag() const { return {text + path_size, etag_size}; }
    std::string_view version_id() const { return {text + path_size + etag_size, version_size}; }
  };
  struct Shape {
    std::uint32_t nodes = 1;
    std::uint64_t text_size = 0;
  };
  // The origins of the remaining files in the order of the file, and the mapping of our numbers.
  struct Table {
    std::vector<Origin> origins{};
    std::vector<std::uint32_t> numbers{};
    std::vector<OriginId> ids{};  // by our numbers
  };
  class Writer;

  std::span<Entry> entries() const { return {reinterpret_cast<Entry*>(entries_->begin()), count_}; }
  Result<> push(const source::Object& object, std::string_view path, const Origin& origin,
                bool kept);
  std::uint32_t number_of(const Origin& origin);
  static bool before(const Entry& a, const Entry& b);
  Entry winner_of(std::span<const Entry> same_path) const;
  Result<> sort();
  Result<> settle();  // sorts; leaves each path once, as file or directory
  Result<Shape> shape() const;
  Table table() const;

  const std::string scratch_;
  std::unique_ptr<GrowingMap> entries_;
  std::size_t count_ = 0;  // of entries
  GrowingMap texts_;
  std::optional<Error> failed_{};
  std::vector<Origin> origins_{{}};
  std::uint64_t listed_ = 0;
  bool newer_wins_ = false;
  LeftOutNotes left_out_{};
};

}  // namespace paddle::samplefs
