// SPDX-License-Identifier: Apache-2.0
#include "samplefs/index_builder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/unique_fd.h"
#include "samplefs/index_format.h"
#include "samplefs/new_file.h"
#include "source/path_rules.h"

namespace paddle::samplefs {
namespace {

constexpr std::size_t kChunkSize = std::size_t{1} << 20;

// How much of two paths are the same directories, slash included.
std::size_t shared_directories(std::string_view a, std::string_view b) {
  const auto [end, ignored] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto same = a.substr(0, static_cast<std::size_t>(end - a.begin()));
  return same.rfind('/') + 1;  // npos + 1 == 0
}

}  // namespace

char* IndexBuilder::room_for(std::size_t size) {
  if (chunks_.empty() || kChunkSize - used_ < size) {
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunkSize));
    used_ = 0;
  }
  char* room = chunks_.back().get() + used_;
  used_ += size;
  return room;
}

Result<> IndexBuilder::add(const source::Object& object) {
  if (!source::is_path(object.path) || !source::is_etag(object.etag) || object.size > INT64_MAX) {
    return Error{Code::kInvalid, "the listing holds an object that can not be a sample"};
  }
  char* text = room_for(object.path.size() + object.etag.size());
  std::memcpy(text, object.path.data(), object.path.size());
  std::memcpy(text + object.path.size(), object.etag.data(), object.etag.size());
  entries_.push_back({.text = text,
                      .size = object.size,
                      .modified_us = object.modified.time_since_epoch().count(),
                      .path_size = static_cast<std::uint16_t>(object.path.size()),
                      .etag_size = static_cast<std::uint8_t>(object.etag.size())});
  return Done{};
}

// Depth first: '/' comes before every other byte, so that what is beneath a directory stands
// together and directly behind a file of the same name.
bool IndexBuilder::before(const Entry& a, const Entry& b) {
  const auto left = a.path();
  const auto right = b.path();
  const auto [l, r] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (l == left.end() && r == right.end()) {  // the same path twice: the latest comes first
    if (a.modified_us != b.modified_us) return a.modified_us > b.modified_us;
    return a.etag() < b.etag();
  }
  if (l == left.end() || r == right.end()) return l == left.end();
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return rank(*l) < rank(*r);
}

void IndexBuilder::settle() {
  if (!std::is_sorted(entries_.begin(), entries_.end(), before)) {
    std::sort(entries_.begin(), entries_.end(), before);
  }
  const auto given = entries_.size();
  entries_.erase(std::unique(entries_.begin(), entries_.end(),
                             [](const Entry& a, const Entry& b) { return a.path() == b.path(); }),
                 entries_.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto path = entries_[i].path();
    const auto next = i + 1 < entries_.size() ? entries_[i + 1].path() : std::string_view();
    const bool hidden =
        next.size() > path.size() && next.starts_with(path) && next[path.size()] == '/';
    if (!hidden) entries_[kept++] = entries_[i];
  }
  entries_.resize(kept);
  left_out_ += given - kept;
}

Result<IndexBuilder::Shape> IndexBuilder::shape() const {
  std::uint64_t nodes = 1;
  std::uint64_t text_size = 0;
  std::string_view previous;
  for (const Entry& entry : entries_) {
    const auto path = entry.path();
    const auto fresh = path.substr(shared_directories(previous, path));
    const auto slashes = static_cast<std::uint64_t>(std::count(fresh.begin(), fresh.end(), '/'));
    nodes += slashes + 1;
    text_size += fresh.size() - slashes + entry.etag_size;
    previous = path;
  }
  if (nodes >= UINT32_MAX) return Error{Code::kInvalid, "too many files for one index"};
  return Shape{.nodes = static_cast<std::uint32_t>(nodes), .text_size = text_size};
}

// Lays the tree out, breadth first, in a file of the right size.
class IndexBuilder::Writer {
 public:
  Writer(std::span<const Entry> entries, Shape shape, std::byte* file)
      : entries_(entries),
        shape_(shape),
        layout_(shape.nodes, shape.text_size),
        file_(file),
        nodes_(reinterpret_cast<IndexNode*>(file + layout_.nodes)),
        ids_(reinterpret_cast<IdSlot*>(file + layout_.ids)),
        texts_(reinterpret_cast<char*>(file + layout_.texts)) {}

  void lay_out(std::uint64_t generation, std::uint64_t left_out) {
    IndexHeader header;
    while (!lay_out_nodes(header.salt)) ++header.salt;
    std::memcpy(header.magic, kIndexMagic, sizeof kIndexMagic);
    header.version = kIndexVersion;
    header.node_count = shape_.nodes;
    header.file_size = layout_.end;
    header.generation = generation;
    header.files = entries_.size();
    for (const Entry& entry : entries_) header.bytes += entry.size;
    header.left_out = left_out;
    header.text_size = shape_.text_size;
    std::memcpy(file_, &header, sizeof header);
    seal_index(file_, layout_.end);
  }

 private:
  // The entries [begin, end) are beneath this directory, whose path with a slash is `depth` long.
  struct Directory {
    std::uint32_t position = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };

  // False when two ids are the same.
  bool lay_out_nodes(std::uint64_t salt) {
    salt_ = salt;
    next_ = 1;
    text_ = 0;
    nodes_[0] = {};
    nodes_[0].id = kRootId;
    nodes_[0].kind = NodeKind::kDirectory;
    std::deque<Directory> waiting{{.position = 0, .begin = 0, .end = entries_.size(), .depth = 0}};
    for (; !waiting.empty(); waiting.pop_front()) lay_out_children(waiting.front(), waiting);
    for (std::uint32_t i = next_; --i > 0;) {  // a parent stands before its children
      IndexNode& parent = nodes_[nodes_[i].parent];
      parent.modified_us = std::max(parent.modified_us, nodes_[i].modified_us);
    }
    for (std::uint32_t i = 0; i < next_; ++i) ids_[i] = {.id = nodes_[i].id, .node = i};
    const auto by_id = [](const IdSlot& a, const IdSlot& b) { return a.id < b.id; };
    std::sort(ids_, ids_ + next_, by_id);
    return std::adjacent_find(ids_, ids_ + next_, [](const IdSlot& a, const IdSlot& b) {
             return a.id == b.id;
           }) == ids_ + next_;
  }

  void lay_out_children(const Directory directory, std::deque<Directory>& waiting) {
    const std::uint32_t first = next_;
    for (std::size_t i = directory.begin; i < directory.end;) {
      const Entry& entry = entries_[i];
      const auto rest = entry.path().substr(directory.depth);
      const std::size_t slash = rest.find('/');
      if (slash == std::string_view::npos) {
        add_file(directory.position, entry, rest);
        ++i;
        continue;
      }
      const auto prefix = entry.path().substr(0, directory.depth + slash + 1);
      const auto beneath = [&](const Entry& other) { return other.path().starts_with(prefix); };
      const auto end = std::partition_point(
          entries_.begin() + static_cast<std::ptrdiff_t>(i),
          entries_.begin() + static_cast<std::ptrdiff_t>(directory.end), beneath);
      const auto past = static_cast<std::size_t>(end - entries_.begin());
      waiting.push_back({.position = next_, .begin = i, .end = past, .depth = prefix.size()});
      IndexNode& node = add_node(directory.position, rest.substr(0, slash));
      node.kind = NodeKind::kDirectory;
      node.id = directory_id(prefix.substr(0, prefix.size() - 1), salt_);
      i = past;
    }
    nodes_[directory.position].first_child = first;
    nodes_[directory.position].child_count = next_ - first;
  }

  void add_file(std::uint32_t parent, const Entry& entry, std::string_view name) {
    IndexNode& node = add_node(parent, name);
    node.id = file_id(entry.path(), entry.etag(), salt_);
    node.size = entry.size;
    node.modified_us = entry.modified_us;
    node.etag_size = entry.etag_size;
    append(entry.etag());
  }

  IndexNode& add_node(std::uint32_t parent, std::string_view name) {
    IndexNode& node = nodes_[next_++];
    node = {};
    node.modified_us = INT64_MIN;
    node.text = text_;
    node.parent = parent;
    node.name_size = static_cast<std::uint16_t>(name.size());
    append(name);
    return node;
  }

  void append(std::string_view text) {
    std::memcpy(texts_ + text_, text.data(), text.size());
    text_ += text.size();
  }

  const std::span<const Entry> entries_;
  const Shape shape_;
  const IndexLayout layout_;
  std::byte* const file_;
  IndexNode* const nodes_;
  IdSlot* const ids_;
  char* const texts_;
  std::uint64_t salt_ = 0;
  std::uint32_t next_ = 1;
  std::uint64_t text_ = 0;
};

Result<> IndexBuilder::write(const std::string& file, std::uint64_t generation) {
  settle();
  TRY(const Shape measured, shape());
  TRY(NewFile fresh, NewFile::create(file, IndexLayout(measured.nodes, measured.text_size).end));
  Writer(entries_, measured, fresh.bytes()).lay_out(generation, left_out_);
  return fresh.publish();
}

}  // namespace paddle::samplefs
