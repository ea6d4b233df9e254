// SPDX-License-Identifier: Apache-2.0
//
// One immutable generation of a sample set, read from a memory-mapped index file (index_format.h).
// Lookup, stat and listing never leave the node and allocate nothing; the kernel may evict the
// mapped pages.
//
// open() refuses a file that is truncated or whose header is altered; it does not read the rest, so
// that it takes no longer for a million files than for one. Each part is checked against its hash
// when it is first used, and every number in it before it is used. What is damaged is not there:
// names are not found, entries have the id 0, and damaged() is true from then on, so that a caller
// can tell "none" from "not readable". verify() checks everything, as one who derives from an index
// must. No other program may write the file: it is replaced by rename, never in place (a truncation
// while it is mapped would raise SIGBUS).
//
// Thread-safe. Views live as long as the Index.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "samplefs/block.h"
#include "samplefs/file_system.h"
#include "samplefs/index_format.h"

namespace paddle::samplefs {

class Index {
 public:
  using Position = std::uint32_t;  // of a node, in this generation only
  static constexpr Position kRoot = 0;

  struct Entry {
    Position position = 0;
    NodeId id = 0;
    bool directory = false;
    std::uint64_t size = 0;
    WallTime modified{};
    std::string_view name{};
    std::string_view etag{};
    std::string_view version_id{};
    std::uint32_t origin = 0;  // its number, valid in this generation only
    Attr attr() const {
      return {.id = id, .directory = directory, .size = size, .modified = modified};
    }
  };

  // kNotFound, or kInvalid for what is no index, is truncated, or has an altered header.
  static Result<std::shared_ptr<const Index>> open(const std::string& path);
  // The same over bytes that outlive the index.
  static Result<std::shared_ptr<const Index>> over(std::span<const std::byte> file);

  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Reads all of it. kInvalid, with what is wrong, unless it is unaltered and consistent in itself.
  Result<> verify() const;
  // True once something that is damaged was to be read.
  bool damaged() const { return damaged_.load(std::memory_order_relaxed); }

  std::optional<Position> find(NodeId id) const;
  std::optional<Position> child(Position directory, std::string_view name) const;
  std::optional<Position> resolve(std::string_view path) const;  // "" is the root
  Entry at(Position position) const;                             // REQUIRES: position < size()
  std::string path_of(Position position) const;  // "" for the root, and where it is damaged

  struct Children {
    Position first = 0;
    std::uint32_t count = 0;
  };
  Children children(Position directory) const;  // none for a file

  Position size() const { return header_.node_count; }  // files and directories
  std::uint64_t generation() const { return header_.generation; }
  FsTotals totals() const { return {.files = header_.files, .bytes = header_.bytes}; }
  // The generation that the latest sync made; earlier than generation() when files were removed
  // since.
  std::uint64_t synced() const { return header_.synced; }
  // Objects that the latest sync of each origin left out: the total, and details by origin.
  std::uint64_t left_out() const { return header_.left_out; }
  const LeftOutNotes& left_out_notes() const { return notes_; }
  std::string digest() const;  // 32 hexadecimal digits

  // The origins of all files. The first is always the set's own source at the root.
  std::uint32_t origins() const { return static_cast<std::uint32_t>(origins_.size()); }
  const Origin& origin(std::uint32_t number) const;  // REQUIRES: number < origins()
  OriginId origin_id(std::uint32_t number) const;
  // Ids of the jobs that made the latest generations; this generation's job is last.
  const std::vector<std::string>& ledger() const { return ledger_; }
  bool was_made_by(std::string_view job) const;

  // The block of a file that holds the byte `at`. `path` is the file's and outlives the block.
  // REQUIRES: at < entry.size.
  Block block(const Entry& entry, std::string_view path, std::uint64_t at) const;

 private:
  explicit Index(std::span<const std::byte> file, bool mapped) : file_(file), mapped_(mapped) {}

  struct KnownOrigin {
    Origin origin{};
    OriginId id = 0;
  };

  Result<> check_header();
  Result<> read_ends();
  Result<> verify_tree() const;
  Result<> check_node(Position position, std::uint64_t& files, std::uint64_t& bytes,
                      Position& next_child) const;
  Result<> check_ids() const;

  // Whether these bytes of the body are as they were written.
  bool is_sound(std::uint64_t begin, std::uint64_t size) const;
  bool is_valid(const IndexNode& node, bool root) const;
  void note_damage() const { damaged_.store(true, std::memory_order_relaxed); }

  // What is not sound is a default value or empty.
  IndexNode node(Position position) const;
  IdSlot slot(Position position) const;
  std::string_view text(std::uint64_t offset, std::size_t size) const;
  std::string_view name(const IndexNode& node) const { return text(node.text, node.name_size); }
  std::string_view etag(const IndexNode& node) const {
    return text(node.text + node.name_size, node.etag_size);
  }

  const std::span<const std::byte> file_;
  const bool mapped_;
  IndexHeader header_{};
  IndexLayout layout_{};
  enum class Chunk : std::uint8_t { kUnknown, kSound, kDamaged };
  // Null: all of it was verified when it was opened.
  std::unique_ptr<std::atomic<Chunk>[]> chunks_ {};
  mutable std::atomic<bool> damaged_{false};
  mutable std::atomic<bool> verified_{false};
  std::vector<KnownOrigin> origins_{1};
  std::vector<std::string> ledger_{};
  LeftOutNotes notes_{};
};

}  // namespace paddle::samplefs
