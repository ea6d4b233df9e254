// SPDX-License-Identifier: Apache-2.0
#include "fuse/fake/memory_file_system.h"

#include <algorithm>
#include <cstring>

namespace paddle::fuse {
namespace {

using samplefs::Attr;
using samplefs::kRootId;
using samplefs::NodeId;

constexpr std::chrono::hours kAWhile{1};  // a wait that is too long for the library wraps around

std::uint64_t mix(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

std::byte pattern_byte(std::uint64_t seed, std::uint64_t offset) {
  return static_cast<std::byte>(mix(seed ^ mix(offset / 8)) >> (offset % 8 * 8));
}

void fill_pattern(std::uint64_t seed, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t i = 0;
  while (i < into.size()) {
    const std::uint64_t at = offset + i;
    if (at % 8 == 0 && into.size() - i >= 8) {
      const std::uint64_t word = mix(seed ^ mix(at / 8));
      std::memcpy(into.data() + i, &word, 8);
      i += 8;
    } else {
      into[i++] = pattern_byte(seed, at);
    }
  }
}

MemoryFileSystem::MemoryFileSystem() {
  nodes_[kRootId].attr = Attr{kRootId, true, 0, WallTime{std::chrono::seconds{1'700'000'000}}};
}

MemoryFileSystem::Node* MemoryFileSystem::find(NodeId node) {
  const auto at = nodes_.find(node);
  return at == nodes_.end() ? nullptr : &at->second;
}

void MemoryFileSystem::add_raw(NodeId parent, std::string name, Attr attr) {
  Node& directory = nodes_.at(parent);
  directory.by_name.emplace(name, directory.entries.size());
  directory.entries.emplace_back(std::move(name), attr);
}

NodeId MemoryFileSystem::add(std::string_view path, bool directory, std::uint64_t size) {
  NodeId parent = kRootId;
  const std::size_t slash = path.rfind('/');
  if (slash != path.npos) parent = add_directory(path.substr(0, slash));
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  const auto& names = nodes_.at(parent).by_name;
  if (const auto at = names.find(name); at != names.end()) {
    return nodes_.at(parent).entries[at->second].second.id;
  }
  const Attr attr{next_++, directory, size, nodes_.at(kRootId).attr.modified};
  nodes_[attr.id].attr = attr;
  add_raw(parent, std::string(name), attr);
  return attr.id;
}

NodeId MemoryFileSystem::add_directory(std::string_view path) { return add(path, true, 0); }

NodeId MemoryFileSystem::add_file(std::string_view path, std::string content) {
  const NodeId id = add(path, false, content.size());
  nodes_.at(id).content = std::move(content);
  return id;
}

NodeId MemoryFileSystem::add_pattern(std::string_view path, std::uint64_t size,
                                     std::uint64_t seed) {
  const NodeId id = add(path, false, size);
  nodes_.at(id).seed = seed;
  return id;
}

void MemoryFileSystem::fail_reads(NodeId node, std::optional<Code> code) {
  Lock lock(mutex_);
  if (code) {
    failing_[node] = *code;
  } else {
    failing_.erase(node);
  }
}

void MemoryFileSystem::hold_reads(NodeId node) {
  Lock lock(mutex_);
  holding_.insert(node);
}

void MemoryFileSystem::release_reads(NodeId node) {
  Lock lock(mutex_);
  holding_.erase(node);
  changed_.notify_all();
}

std::size_t MemoryFileSystem::held() const {
  Lock lock(mutex_);
  return held_;
}

void MemoryFileSystem::cut_reads(NodeId node, bool cut) {
  Lock lock(mutex_);
  if (cut) {
    cutting_.insert(node);
  } else {
    cutting_.erase(node);
  }
}

Result<Attr> MemoryFileSystem::lookup(NodeId parent, std::string_view name) {
  const Node* directory = find(parent);
  if (directory == nullptr) return Error{Code::kNotFound, "no such node"};
  const auto at = directory->by_name.find(name);
  if (at == directory->by_name.end()) return Error{Code::kNotFound, "no such name"};
  return directory->entries[at->second].second;
}

Result<Attr> MemoryFileSystem::stat(NodeId node) {
  const Node* found = find(node);
  if (found == nullptr) return Error{Code::kNotFound, "no such node"};
  return found->attr;
}

Result<> MemoryFileSystem::read_directory(NodeId node, std::uint64_t start, const EntrySink& sink) {
  const Node* found = find(node);
  if (found == nullptr) return Error{Code::kNotFound, "no such node"};
  for (std::uint64_t i = start; i < found->entries.size(); ++i) {
    const auto& [name, attr] = found->entries[i];
    if (!sink(name, attr, i + 1)) break;
  }
  return Done{};
}

Result<std::optional<std::size_t>> MemoryFileSystem::read_local(NodeId node, std::uint64_t offset,
                                                                std::span<std::byte> into) {
  {
    Lock lock(mutex_);
    if (holding_.contains(node)) return std::optional<std::size_t>();
  }
  TRY(const std::size_t got, give(node, offset, into));
  return std::optional<std::size_t>(got);
}

Result<std::size_t> MemoryFileSystem::read(NodeId node, std::uint64_t offset,
                                           std::span<std::byte> into, BootTime until) {
  {
    Lock lock(mutex_);
    ++held_;
    while (holding_.contains(node)) {
      const auto left = until - system_clock().boot();
      if (left.count() <= 0) break;
      changed_.wait_for(mutex_, {}, std::min<std::chrono::nanoseconds>(left, kAWhile));
    }
    --held_;
    if (holding_.contains(node)) return Error{Code::kDeadline, "held for too long"};
  }
  return give(node, offset, into);
}

Result<std::size_t> MemoryFileSystem::give(NodeId node, std::uint64_t offset,
                                           std::span<std::byte> into) {
  Node* found = find(node);
  if (found == nullptr) return Error{Code::kNotFound, "no such node"};
  bool cut = false;
  {
    Lock lock(mutex_);
    if (const auto at = failing_.find(node); at != failing_.end()) {
      return Error{at->second, "failing on request"};
    }
    cut = cutting_.contains(node);
  }
  const std::uint64_t size = found->attr.size;
  const std::uint64_t left = size > offset ? size - offset : 0;
  std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left, into.size()));
  if (found->seed) {
    fill_pattern(*found->seed, offset, into.first(count));
  } else if (count > 0) {
    std::memcpy(into.data(), found->content.data() + offset, count);
  }
  if (cut && count > 0) --count;
  return count;
}

samplefs::FsTotals MemoryFileSystem::totals() const {
  samplefs::FsTotals totals;
  for (const auto& [id, node] : nodes_) {
    if (node.attr.directory) continue;
    ++totals.files;
    totals.bytes += node.attr.size;
  }
  return totals;
}

}  // namespace paddle::fuse
