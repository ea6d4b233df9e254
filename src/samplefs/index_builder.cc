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

// Length of the common directories of two paths, slash included.
std::size_t shared_directories(std::string_view a, std::string_view b) {
  const auto [end, ignored] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto same = a.substr(0, static_cast<std::size_t>(end - a.begin()));
  return same.rfind('/') + 1;  // npos + 1 == 0
}

}  // namespace

std::uint32_t IndexBuilder::number_of(const Origin& origin) {
  // There are few origins, and consecutive calls usually name the same one.
  const auto found = std::find(origins_.rbegin(), origins_.rend(), origin);
  if (found != origins_.rend()) {
    return static_cast<std::uint32_t>(origins_.rend() - found - 1);
  }
  origins_.push_back(origin);
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

Result<> IndexBuilder::push(const source::Object& object, std::string_view path,
                            const Origin& origin, bool kept) {
  TRY(std::byte* const room,
      texts_.take(path.size() + object.etag.size() + object.version_id.size()));
  TRY(std::byte* const slot, entries_->take(sizeof(Entry)));
  char* const text = reinterpret_cast<char*>(room);
  std::size_t size = path.copy(text, path.size());
  size += object.etag.copy(text + size, object.etag.size());
  object.version_id.copy(text + size, object.version_id.size());
  new (slot) Entry{.text = text,
                   .size = object.size,
                   .modified_us = object.modified.time_since_epoch().count(),
                   .path_size = static_cast<std::uint16_t>(path.size()),
                   .etag_size = static_cast<std::uint8_t>(object.etag.size()),
                   .version_size = static_cast<std::uint8_t>(object.version_id.size()),
                   .kept = kept,
                   .origin = number_of(origin)};
  ++count_;
  return Done{};
}

Result<> IndexBuilder::add(const source::Object& object, const Origin& origin) {
  if (!source::is_path(object.path) || !source::is_etag(object.etag) || object.size > INT64_MAX ||
      (!object.version_id.empty() && !source::is_version_id(object.version_id))) {
    return Error{Code::kInvalid, "the listing contains an object that cannot be a sample"};
  }
  const std::string path = path_of_object(object.path, origin.destination);
  if (!source::is_path(path)) {
    left_out_[origin].add(object.path, "a path of more than 4095 bytes beneath the destination");
    return Done{};
  }
  if (object.size > kMaxFileSize) {
    left_out_[origin].add(object.path, "larger than 50 TiB");
    return Done{};
  }
  CHECK_DONE(push(object, path, origin, false));
  ++listed_;
  return Done{};
}

void IndexBuilder::leave_out(const source::LeftOut& left, const Origin& origin) {
  if (left.count > 0) left_out_[origin].add(left);
}

void IndexBuilder::keep(const Index& from, const Index::Entry& entry, std::string_view path) {
  auto done = push({.size = entry.size,
                    .etag = std::string(entry.etag),
                    .modified = entry.modified,
                    .version_id = std::string(entry.version_id)},
                   path, from.origin(entry.origin), true);
  if (!done && !failed_) failed_ = std::move(done).error();
}

// Depth first: '/' comes before every other byte, so that the entries of a directory are adjacent
// and directly follow a file of the same name.
bool IndexBuilder::before(const Entry& a, const Entry& b) {
  const auto left = a.path();
  const auto right = b.path();
  const auto [l, r] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (l == left.end() && r == right.end()) {  // the same path: listed ones first, then the latest
    if (a.kept != b.kept) return b.kept;
    if (a.modified_us != b.modified_us) return a.modified_us > b.modified_us;
    return a.etag() < b.etag();
  }
  if (l == left.end() || r == right.end()) return l == left.end();
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return rank(*l) < rank(*r);
}

IndexBuilder::Entry IndexBuilder::winner_of(std::span<const Entry> same_path) const {
  const Entry& first = same_path.front();
  if (!newer_wins_ || first.kept) return first;
  const auto old = std::find_if(same_path.begin(), same_path.end(),
                                [](const Entry& entry) { return entry.kept; });
  const bool stays = old != same_path.end() && old->origin != first.origin &&
                     old->modified_us >= first.modified_us;
  return stays ? *old : first;
}

Result<> IndexBuilder::sort() {
  const std::span<Entry> all = entries();
  const std::span<Entry> kept = all.subspan(static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [](const Entry& e) { return e.kept; }) - all.begin()));
  const std::span<Entry> listed = all.first(all.size() - kept.size());
  for (const std::span<Entry> part : {listed, kept}) {
    if (!std::is_sorted(part.begin(), part.end(), before)) {
      std::sort(part.begin(), part.end(), before);
    }
  }
  if (listed.empty() || kept.empty()) return Done{};
  auto merged = std::make_unique<GrowingMap>(scratch_);
  TRY(std::byte* const room, merged->take(all.size_bytes()));
  std::merge(listed.begin(), listed.end(), kept.begin(), kept.end(), reinterpret_cast<Entry*>(room),
             before);
  entries_ = std::move(merged);
  return Done{};
}

Result<> IndexBuilder::settle() {
  CHECK_DONE(sort());
  std::span<Entry> all = entries();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].path() == all[i].path()) ++end;
    all[kept++] = winner_of(all.subspan(i, end - i));
    i = end;
  }
  all = all.first(kept);
  kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto path = all[i].path();
    const auto next = i + 1 < all.size() ? all[i + 1].path() : std::string_view();
    const bool hidden =
        next.size() > path.size() && next.starts_with(path) && next[path.size()] == '/';
    if (hidden) {
      left_out_[origins_[all[i].origin]].add(path, "a directory has the same name");
    } else {
      all[kept++] = all[i];
    }
  }
  count_ = kept;
  return Done{};
}

IndexBuilder::Table IndexBuilder::table() const {
  Table table;
  std::vector<bool> used(origins_.size());
  for (const Entry& entry : entries()) used[entry.origin] = true;
  for (std::size_t i = 1; i < origins_.size(); ++i) {
    if (used[i]) table.origins.push_back(origins_[i]);
  }
  std::sort(table.origins.begin(), table.origins.end());
  for (const Origin& origin : origins_) {
    const auto at = std::lower_bound(table.origins.begin(), table.origins.end(), origin);
    const bool listed = origin != Origin{} && at != table.origins.end();
    table.numbers.push_back(listed ? static_cast<std::uint32_t>(at - table.origins.begin()) + 1
                                   : 0);
    table.ids.push_back(id_of(origin));
  }
  return table;
}

Result<IndexBuilder::Shape> IndexBuilder::shape() const {
  std::uint64_t nodes = 1;
  std::uint64_t text_size = 0;
  std::uint64_t bytes = 0;
  std::string_view previous;
  for (const Entry& entry : entries()) {
    bytes += entry.size;
    if (bytes > kMaxSetSize) {
      return Error{Code::kInvalid,
                   "the source lists more than 4 PiB, the maximum of a set; sync a "
                   "part of it: a longer prefix, or include and exclude"};
    }
    const auto path = entry.path();
    const auto fresh = path.substr(shared_directories(previous, path));
    const auto slashes = static_cast<std::uint64_t>(std::count(fresh.begin(), fresh.end(), '/'));
    nodes += slashes + 1;
    text_size += fresh.size() - slashes + entry.etag_size + entry.version_size;
    previous = path;
  }
  if (nodes >= UINT32_MAX) return Error{Code::kInvalid, "too many files for one index"};
  return Shape{.nodes = static_cast<std::uint32_t>(nodes), .text_size = text_size};
}

// Writes the tree, breadth first, into a file of the right size.
class IndexBuilder::Writer {
 public:
  Writer(std::span<const Entry> entries, const Table& table, const IndexHeader& header,
         std::byte* file)
      : entries_(entries),
        table_(table),
        header_(header),
        layout_(header),
        file_(file),
        nodes_(reinterpret_cast<IndexNode*>(file + layout_.nodes)),
        ids_(reinterpret_cast<IdSlot*>(file + layout_.ids)),
        texts_(reinterpret_cast<char*>(file + layout_.texts)) {}

  void lay_out(const std::string& origins, const std::string& ledger, const std::string& notes) {
    while (!lay_out_nodes(header_.salt)) ++header_.salt;
    header_.files = entries_.size();
    for (const Entry& entry : entries_) header_.bytes += entry.size;
    std::memcpy(file_ + layout_.origins, origins.data(), origins.size());
    std::memcpy(file_ + layout_.ledger, ledger.data(), ledger.size());
    std::memcpy(file_ + layout_.notes, notes.data(), notes.size());
    std::memcpy(file_, &header_, sizeof header_);
    seal_index(file_, layout_.end);
  }

 private:
  // The entries [begin, end) are beneath this directory, whose path has `depth` bytes with its
  // slash.
  struct Directory {
    std::uint32_t position = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };

  // False when two ids are equal.
  bool lay_out_nodes(std::uint64_t salt) {
    salt_ = salt;
    next_ = 1;
    text_ = 0;
    nodes_[0] = {};
    nodes_[0].id = kRootId;
    nodes_[0].kind = NodeKind::kDirectory;
    std::deque<Directory> waiting{{.position = 0, .begin = 0, .end = entries_.size(), .depth = 0}};
    for (; !waiting.empty(); waiting.pop_front()) lay_out_children(waiting.front(), waiting);
    for (std::uint32_t i = next_; --i > 0;) {  // a parent precedes its children
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
    node.id = file_id(entry.path(), entry.etag(), table_.ids[entry.origin], salt_);
    node.origin = table_.numbers[entry.origin];
    node.size = entry.size;
    node.modified_us = entry.modified_us;
    node.etag_size = entry.etag_size;
    node.version_size = entry.version_size;
    append(entry.etag());
    append(entry.version_id());
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
  const Table& table_;
  IndexHeader header_;
  const IndexLayout layout_;
  std::byte* const file_;
  IndexNode* const nodes_;
  IdSlot* const ids_;
  char* const texts_;
  std::uint64_t salt_ = 0;
  std::uint32_t next_ = 1;
  std::uint64_t text_ = 0;
};

Result<> IndexBuilder::write(const std::string& file, const GenerationInfo& info) {
  if (failed_) return *std::move(failed_);
  CHECK_DONE(settle());
  TRY(const Shape measured, shape());
  const Table used = table();
  const std::string origins = encode_origins(used.origins);
  const std::string ledger = encode_ledger(info.ledger);
  const std::string notes = encode_notes(left_out_);
  IndexHeader header;
  std::memcpy(header.magic, kIndexMagic, sizeof kIndexMagic);
  header.version = kIndexVersion;
  header.node_count = measured.nodes;
  header.generation = info.generation;
  header.synced = info.synced;
  for (const auto& [origin, left] : left_out_) header.left_out += left.count;
  header.text_size = measured.text_size;
  header.origins_size = origins.size();
  header.ledger_size = ledger.size();
  header.notes_size = notes.size();
  header.file_size = IndexLayout(header).end;
  TRY(NewFile fresh, NewFile::create(file, header.file_size));
  Writer(entries(), used, header, fresh.bytes()).lay_out(origins, ledger, notes);
  return fresh.publish();
}

}  // namespace paddle::samplefs
