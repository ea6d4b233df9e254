// SPDX-License-Identifier: Apache-2.0
#include "samplefs/merge.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_set>

namespace paddle::samplefs {
namespace {

// Depth first, the names of a directory in their order: that is the order in which a builder
// merges.
void for_each_file(const Index& index,
                   const std::function<void(const Index::Entry&, const std::string&)>& visit) {
  struct Open {
    Index::Position next = 0;
    Index::Position end = 0;
    std::size_t depth = 0;  // bytes of its path, with the slash behind it
  };
  std::string path;
  std::vector<Open> open;
  const auto enter = [&](Index::Position directory) {
    const auto [first, count] = index.children(directory);
    open.push_back({.next = first, .end = first + count, .depth = path.size()});
  };
  enter(Index::kRoot);
  while (!open.empty()) {
    Open& here = open.back();
    path.resize(here.depth);
    if (here.next == here.end) {
      open.pop_back();
      continue;
    }
    const Index::Entry entry = index.at(here.next++);
    path += entry.name;
    if (!entry.directory) {
      visit(entry, path);
      continue;
    }
    path += '/';
    // Behind its parent: an index that was not verified must not lead in circles.
    if (index.children(entry.position).first > entry.position) enter(entry.position);
  }
}

}  // namespace

Result<> add_listed(const source::Object& object, const SyncRules& rules, IndexBuilder& next) {
  if (!rules.keys.takes(object.path)) return Done{};
  return next.add(object, rules.origin);
}

void keep_beside(const Index& base, const SyncRules& rules, IndexBuilder& next) {
  if (rules.newer_only) next.prefer_newer();
  const std::string& destination = rules.origin.destination;
  for_each_file(base, [&](const Index::Entry& entry, const std::string& path) {
    const bool concerned = rules.delete_unlisted && is_beneath(path, destination) &&
                           rules.keys.takes(object_of(path, destination));
    if (!concerned) next.keep(base, entry, path);
  });
  for (const auto& [origin, left] : base.left_out_notes()) {
    const bool gone = rules.delete_unlisted && (origin.destination == destination ||
                                                is_beneath(origin.destination, destination));
    if (origin != rules.origin && !gone) next.leave_out(left, origin);
  }
}

Removed keep_all_but(const Index& base, const std::vector<std::string>& paths, IndexBuilder& next) {
  const std::unordered_set<std::string_view> gone(paths.begin(), paths.end());
  const auto is_gone = [&](std::string_view path) {
    for (;;) {
      if (gone.contains(path)) return true;
      const std::size_t slash = path.rfind('/');
      if (slash == std::string_view::npos) return false;
      path = path.substr(0, slash);
    }
  };
  Removed removed;
  for_each_file(base, [&](const Index::Entry& entry, const std::string& path) {
    if (!is_gone(path)) return next.keep(base, entry, path);
    ++removed.files;
    removed.bytes += entry.size;
  });
  for (const auto& [origin, left] : base.left_out_notes()) {
    if (!is_gone(origin.destination)) next.leave_out(left, origin);
  }
  return removed;
}

GenerationInfo next_after(const Index& base, const std::string& job, bool is_sync) {
  const std::uint64_t generation = base.generation() + 1;
  GenerationInfo info{.generation = generation,
                      .synced = is_sync ? generation : base.synced(),
                      .ledger = base.ledger()};
  if (!job.empty()) info.ledger.push_back(job.substr(0, 255));
  if (info.ledger.size() > kLedgerSize) {
    info.ledger.erase(info.ledger.begin(), info.ledger.end() - kLedgerSize);
  }
  return info;
}

}  // namespace paddle::samplefs
