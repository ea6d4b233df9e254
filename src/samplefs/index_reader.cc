// SPDX-License-Identifier: Apache-2.0
//
// Checked when opened: sizes; that parts are where they must be; the hash of the header and of what
// stands behind the body; the root. A file of an earlier version is verified as a whole.
//
// Checked by verify(): the hashes of the body; that the children of directories, taken in order,
// are exactly the nodes 1..n, each naming its parent, in strictly rising order of names; that
// names, etags and version ids are within the texts and are valid; that ids rise strictly and point
// at the node that has them; that files are beneath the destination of their origin; that the
// totals add up.
//
// Reads check bounds, the hash of a chunk once, and each entry, so that neither a file that was not
// verified nor one that was changed meanwhile can cause reads outside of it.
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/unique_fd.h"
#include "samplefs/index.h"
#include "source/path_rules.h"

namespace paddle::samplefs {
namespace {

Error invalid(const char* what) {
  return Error{Code::kInvalid, std::string("the index file ") + what};
}

}  // namespace

Result<std::shared_ptr<const Index>> Index::open(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return Error{Code::kNotFound, "there is no index file"};
  if (!fd) {
    return Error{Code::kUnavailable, std::string("open the index file: ") + std::strerror(errno)};
  }
  struct stat file {};
  if (::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return invalid("is not a file");
  const auto size = static_cast<std::size_t>(file.st_size);
  if (size < sizeof(IndexHeader)) return invalid("is truncated");
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) {
    return Error{Code::kUnavailable, std::string("map the index file: ") + std::strerror(errno)};
  }
  const std::shared_ptr<Index> index(
      new Index(std::span(static_cast<const std::byte*>(mapped), size), true));
  CHECK_DONE(index->check_header());
  return std::shared_ptr<const Index>(index);
}

Result<std::shared_ptr<const Index>> Index::over(std::span<const std::byte> file) {
  const std::shared_ptr<Index> index(new Index(file, false));
  CHECK_DONE(index->check_header());
  return std::shared_ptr<const Index>(index);
}

Index::~Index() {
  // NOLINTNEXTLINE: munmap takes what mmap gave, which was not const.
  if (mapped_) ::munmap(const_cast<std::byte*>(file_.data()), file_.size());
}

Result<> Index::check_header() {
  if (file_.size() < sizeof(IndexHeader)) return invalid("is truncated");
  IndexHeader header;
  std::memcpy(&header, file_.data(), sizeof header);
  if (std::memcmp(header.magic, kIndexMagic, sizeof kIndexMagic) != 0) return invalid("is not one");
  if (header.version < kFirstIndexVersion || header.version > kIndexVersion) {
    return invalid("has an unknown version");
  }
  if (header.file_size != file_.size() || !fits(header, file_.size())) {
    return invalid("is truncated");
  }
  header_ = header;
  layout_ = IndexLayout(header);
  if (!header_is_sealed(file_.data(), layout_)) return invalid("has an altered header");
  if (header.version == kFirstIndexVersion) header_.synced = header.generation;
  CHECK_DONE(read_ends());
  if (layout_.chunk_count == 0) return verify();
  chunks_ = std::make_unique<std::atomic<Chunk>[]>(layout_.chunk_count);
  if (at(kRoot).id != kRootId) return invalid("has an altered root");
  return Done{};
}

Result<> Index::verify() const {
  auto done = verify_tree();
  if (done) {
    verified_.store(true, std::memory_order_relaxed);
  } else {
    note_damage();
  }
  return done;
}

Result<> Index::verify_tree() const {
  if (!body_is_sealed(file_.data(), layout_)) return invalid("has been altered");
  for (std::uint64_t i = 0; chunks_ && i < layout_.chunk_count; ++i) {
    chunks_[i].store(Chunk::kSound, std::memory_order_relaxed);
  }
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  Position next_child = 1;
  for (Position position = 0; position < size(); ++position) {
    CHECK_DONE(check_node(position, files, bytes, next_child));
  }
  if (next_child != size()) return invalid("has nodes outside of the tree");
  if (files != header_.files || bytes != header_.bytes) return invalid("has wrong totals");
  return check_ids();
}

// The sections after the tree.
Result<> Index::read_ends() {
  const auto part = [&](std::uint64_t begin, std::uint64_t end) {
    return std::string_view(reinterpret_cast<const char*>(file_.data() + begin), end - begin);
  };
  auto origins = decode_origins(part(layout_.origins, layout_.ledger));
  auto ledger = decode_ledger(part(layout_.ledger, layout_.notes));
  auto notes = decode_notes(part(layout_.notes, layout_.chunks));
  if (!origins || !ledger || !notes) return invalid("has an invalid end");
  origins_ = {{}};
  for (Origin& origin : *origins) origins_.push_back({.origin = origin, .id = id_of(origin)});
  ledger_ = *std::move(ledger);
  notes_ = *std::move(notes);
  if (notes_.empty() && header_.left_out > 0) notes_[{}].count = header_.left_out;  // version 2
  return Done{};
}

Result<> Index::check_node(Position position, std::uint64_t& files, std::uint64_t& bytes,
                           Position& next_child) const {
  const IndexNode at = node(position);
  const std::uint64_t text_size = std::uint64_t{at.name_size} + at.etag_size + at.version_size;
  if (at.text > header_.text_size || text_size > header_.text_size - at.text) {
    return invalid("has a name outside of the texts");
  }
  const bool root = position == kRoot;
  if (root ? at.name_size != 0 || at.kind != NodeKind::kDirectory || at.id != kRootId
           : !source::is_name(name(at)) || at.id <= kRootId) {
    return invalid("has a node without a valid name");
  }
  if (at.kind == NodeKind::kFile) {
    if (at.first_child != 0 || at.child_count != 0 || at.size > INT64_MAX ||
        !source::is_etag(etag(at))) {
      return invalid("has an invalid file");
    }
    const auto version = text(at.text + at.name_size + at.etag_size, at.version_size);
    if (!version.empty() && !source::is_version_id(version)) {
      return invalid("has a file with an invalid version id");
    }
    if (at.origin >= origins_.size()) return invalid("has a file without an origin");
    if (at.origin != 0 && !is_beneath(path_of(position), origin(at.origin).destination)) {
      return invalid("has a file outside of its destination");
    }
    ++files;
    bytes += at.size;
    return Done{};
  }
  if (at.kind != NodeKind::kDirectory || at.size != 0 || at.etag_size != 0 ||
      at.version_size != 0 || at.origin != 0) {
    return invalid("has an invalid directory");
  }
  if (at.first_child != next_child || at.child_count > size() - next_child ||
      (at.child_count != 0 && next_child <= position)) {
    return invalid("has a directory with wrong children");
  }
  for (Position i = 0; i < at.child_count; ++i) {
    const IndexNode child = node(next_child + i);
    if (child.parent != position) return invalid("has a child of another directory");
    if (i == 0) continue;
    const IndexNode before = node(next_child + i - 1);
    // Names are only compared here: each is checked when its own node is, and text() stays in
    // bounds.
    if (name(before) >= name(child)) return invalid("has names out of order");
  }
  next_child += at.child_count;
  return Done{};
}

Result<> Index::check_ids() const {
  for (Position i = 0; i < size(); ++i) {
    const IdSlot at = slot(i);
    if (at.node >= size() || node(at.node).id != at.id) return invalid("has a dangling id");
    if (i > 0 && slot(i - 1).id >= at.id) return invalid("has ids out of order");
  }
  return Done{};
}

}  // namespace paddle::samplefs
