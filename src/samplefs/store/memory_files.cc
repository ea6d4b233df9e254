// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/memory_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace paddle::samplefs {
namespace {

constexpr std::uint64_t kSector = 512;

}  // namespace

class MemoryFile final : public StoreFile {
 public:
  MemoryFile(MemoryFiles& files, std::size_t node, std::string name, bool writable)
      : files_(files), node_(node), name_(std::move(name)), writable_(writable) {}

  int read(std::uint64_t offset, std::span<std::byte> first, std::span<std::byte> second) override {
    if (const int number = files_.check(MemoryFiles::Call::kRead, name_)) return number;
    Lock lock(files_.mutex_);
    const std::string& bytes = files_.nodes_[node_]->bytes;
    for (const auto& part : {first, second}) {
      if (part.empty()) continue;
      if (offset + part.size() > bytes.size()) return ENODATA;
      std::memcpy(part.data(), bytes.data() + offset, part.size());
      offset += part.size();
    }
    return 0;
  }
  int write(std::uint64_t offset, std::span<const std::byte> first,
            std::span<const std::byte> second) override {
    if (!writable_) return EBADF;
    if (const int number = files_.check(MemoryFiles::Call::kWrite, name_)) return number;
    std::string bytes;
    for (const auto& part : {first, second}) {
      bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
    Lock lock(files_.mutex_);
    files_.record({.kind = MemoryFiles::Kind::kWrite,
                   .node = node_,
                   .offset = offset,
                   .length = bytes.size(),
                   .bytes = std::move(bytes),
                   .name = name_});
    return 0;
  }
  int sync() override {
    if (const int number = files_.check(MemoryFiles::Call::kSync, name_)) return number;
    Lock lock(files_.mutex_);
    files_.record({.kind = MemoryFiles::Kind::kSyncFile, .node = node_});
    return 0;
  }
  int punch(std::uint64_t offset, std::uint64_t length) override {
    if (const int number = files_.check(MemoryFiles::Call::kPunch, name_)) return number;
    Lock lock(files_.mutex_);
    files_.record({.kind = MemoryFiles::Kind::kPunch,
                   .node = node_,
                   .offset = offset,
                   .length = length,
                   .name = name_});
    return 0;
  }
  int size(FileSize& into) override {
    Lock lock(files_.mutex_);
    const MemoryFiles::Node& node = *files_.nodes_[node_];
    const std::uint64_t pages = (node.bytes.size() + 4095) / 4096;
    into = {.bytes = node.bytes.size(),
            .allocated = (pages - std::min<std::uint64_t>(pages, node.holes.size())) * 4096,
            .linked = node.linked};
    return 0;
  }

 private:
  MemoryFiles& files_;
  const std::size_t node_;
  const std::string name_;
  const bool writable_;
};

class MemoryDirectory final : public StoreDirectory {
 public:
  explicit MemoryDirectory(MemoryFiles& files) : files_(files) {}
  ~MemoryDirectory() override { unlock(); }

  int open(const std::string& name, OpenMode mode, Caching,
           std::unique_ptr<StoreFile>& into) override {
    if (const int number = files_.check(MemoryFiles::Call::kOpen, name)) return number;
    Lock lock(files_.mutex_);
    const auto found = files_.names_.find(name);
    const bool create = mode == OpenMode::kCreate;
    if (create && found != files_.names_.end()) return EEXIST;
    if (!create && found == files_.names_.end()) return ENOENT;
    std::size_t node = create ? files_.nodes_.size() : found->second;
    if (create) {
      files_.record({.kind = MemoryFiles::Kind::kCreate, .node = node, .name = name});
    }
    into = std::make_unique<MemoryFile>(files_, node, name, mode != OpenMode::kRead);
    return 0;
  }
  int rename(const std::string& from, const std::string& to) override {
    Lock lock(files_.mutex_);
    if (!files_.names_.contains(from)) return ENOENT;
    files_.record({.kind = MemoryFiles::Kind::kRename, .name = from, .to = to});
    return 0;
  }
  int remove(const std::string& name) override {
    if (const int number = files_.check(MemoryFiles::Call::kRemove, name)) return number;
    Lock lock(files_.mutex_);
    if (!files_.names_.contains(name)) return ENOENT;
    files_.record({.kind = MemoryFiles::Kind::kRemove, .name = name});
    return 0;
  }
  int remove_tree(const std::string& name) override { return remove(name); }
  int sync() override {
    if (const int number = files_.check(MemoryFiles::Call::kSync, "")) return number;
    Lock lock(files_.mutex_);
    files_.record({.kind = MemoryFiles::Kind::kSyncNames});
    return 0;
  }
  int list(std::vector<std::string>& names) override {
    Lock lock(files_.mutex_);
    for (const auto& [name, node] : files_.names_) names.push_back(name);
    return 0;
  }
  int space(DiskSpace& into) override {
    into = {.size = std::uint64_t{1} << 40, .available = std::uint64_t{1} << 40};
    return 0;
  }
  int lock() override {
    Lock lock(files_.mutex_);
    if (files_.locked_) return EWOULDBLOCK;
    files_.locked_ = files_.in_place_ = owner_ = true;
    return 0;
  }
  void unlock() override {
    Lock lock(files_.mutex_);
    if (owner_) files_.locked_ = false;
    owner_ = false;
  }
  bool in_place() override {
    Lock lock(files_.mutex_);
    return owner_ && files_.in_place_;
  }

 private:
  MemoryFiles& files_;
  bool owner_ = false;
};

int MemoryFiles::open_directory(const std::string&, bool, std::unique_ptr<StoreDirectory>& into) {
  if (const int number = check(Call::kOpen, "")) return number;
  into = std::make_unique<MemoryDirectory>(*this);
  return 0;
}

void MemoryFiles::fault(Fault fault) {
  Lock lock(mutex_);
  fault_ = std::move(fault);
}

int MemoryFiles::check(Call call, const std::string& name) const {
  Fault fault;
  {
    Lock lock(mutex_);
    fault = fault_;
  }
  return fault ? fault(call, name) : 0;
}

void MemoryFiles::lie_about_syncs() {
  Lock lock(mutex_);
  lies_ = true;
}

void MemoryFiles::record(Step step) {
  if (lies_ && (step.kind == Kind::kSyncFile || step.kind == Kind::kSyncNames)) return;
  apply(step);
  steps_.push_back(std::move(step));
}

void MemoryFiles::apply(const Step& step) {
  switch (step.kind) {
    case Kind::kWrite: {
      Node& node = *nodes_[step.node];
      const std::uint64_t length = step.length;
      const std::uint64_t before = node.bytes.size();
      if (before < step.offset + length) node.bytes.resize(step.offset + length, '\0');
      for (std::uint64_t page = (before + 4095) / 4096; page * 4096 < step.offset; ++page) {
        node.holes[page] = true;
      }
      node.bytes.replace(step.offset, length, step.bytes, 0, length);
      for (std::uint64_t at = step.offset / 4096; at * 4096 < step.offset + length; ++at) {
        node.holes.erase(at);
      }
      return;
    }
    case Kind::kPunch: {
      Node& node = *nodes_[step.node];
      for (std::uint64_t at = step.offset; at < step.offset + step.length; ++at) {
        if (at < node.bytes.size()) node.bytes[at] = '\0';
        if (at % 4096 == 0 && at < node.bytes.size()) node.holes[at / 4096] = true;
      }
      return;
    }
    case Kind::kCreate:
      while (nodes_.size() <= step.node) nodes_.push_back(std::make_shared<Node>());
      names_[step.name] = step.node;
      return;
    case Kind::kRename:
      if (!names_.contains(step.name)) return;  // its creation was lost
      if (const auto old = names_.find(step.to); old != names_.end()) {
        nodes_[old->second]->linked = false;
      }
      names_[step.to] = names_[step.name];
      names_.erase(step.name);
      return;
    case Kind::kRemove:
      if (const auto old = names_.find(step.name); old != names_.end()) {
        nodes_[old->second]->linked = false;
        names_.erase(old);
      }
      return;
    case Kind::kSyncFile:
    case Kind::kSyncNames:
      return;
  }
}

std::size_t MemoryFiles::steps() const {
  Lock lock(mutex_);
  return steps_.size();
}

std::unique_ptr<MemoryFiles> MemoryFiles::crash(std::size_t steps, const Keep& keep) const {
  Lock lock(mutex_);
  auto after = std::make_unique<MemoryFiles>(boot_ + 1);
  Lock other(after->mutex_);
  steps = std::min(steps, steps_.size());
  std::vector<bool> durable(steps);
  std::set<std::size_t> synced;
  bool names_synced = false;
  for (std::size_t i = steps; i-- > 0;) {
    const Step& step = steps_[i];
    const bool bytes = step.kind == Kind::kWrite || step.kind == Kind::kPunch;
    if (step.kind == Kind::kSyncFile) synced.insert(step.node);
    names_synced |= step.kind == Kind::kSyncNames;
    durable[i] = bytes ? synced.contains(step.node) : names_synced;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) after->nodes_.push_back(std::make_shared<Node>());
  for (std::size_t i = 0; i < steps; ++i) {
    const bool whole = steps_[i].kind != Kind::kWrite;  // a change of a name is there or not
    const bool bytes = !whole || steps_[i].kind == Kind::kPunch;
    double share = durable[i] ? 1 : keep(bytes ? steps_[i].name : "");
    if (whole && share < 1) share = share >= 0.5 ? 1 : 0;
    Step step = steps_[i];
    if (share <= 0) continue;
    if (!whole && share < 1) {
      step.length =
          static_cast<std::uint64_t>(share * static_cast<double>(step.length)) / kSector * kSector;
      step.bytes.resize(step.length);
    }
    after->record(std::move(step));
  }
  // What has survived is on the disk.
  after->record({.kind = Kind::kSyncNames});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    after->record({.kind = Kind::kSyncFile, .node = i});
  }
  return after;
}

std::unique_ptr<MemoryFiles> MemoryFiles::kill(std::size_t steps) const {
  Lock lock(mutex_);
  auto after = std::make_unique<MemoryFiles>(boot_);
  Lock other(after->mutex_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) after->nodes_.push_back(std::make_shared<Node>());
  for (std::size_t i = 0; i < std::min(steps, steps_.size()); ++i) after->record(steps_[i]);
  return after;
}

std::string MemoryFiles::content(const std::string& name) const {
  Lock lock(mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? "" : nodes_[found->second]->bytes;
}

void MemoryFiles::set_content(const std::string& name, const std::string& bytes) {
  Lock lock(mutex_);
  if (!names_.contains(name)) record({.kind = Kind::kCreate, .node = nodes_.size(), .name = name});
  nodes_[names_[name]]->bytes = bytes;
}

std::vector<std::string> MemoryFiles::names() const {
  Lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, node] : names_) all.push_back(name);
  return all;
}

void MemoryFiles::unlink_all() {
  Lock lock(mutex_);
  for (const auto& [name, node] : names_) nodes_[node]->linked = false;
  names_.clear();
  in_place_ = false;
}

}  // namespace paddle::samplefs
