// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/generation_diff.h"

#include <utility>

namespace paddle::engine::samplefs {

using ::paddle::samplefs::Index;

GenerationDiff diff_generations(const Index& before, const Index& after) {
  GenerationDiff changes;
  std::vector<std::pair<Index::Position, Index::Position>> open{{Index::kRoot, Index::kRoot}};
  while (!open.empty()) {
    const auto both = open.back();
    open.pop_back();
    const Index::Entry directory = before.at(both.first);
    const std::size_t known = changes.names.size();
    const auto old = before.children(both.first);
    for (std::uint32_t i = 0; i < old.count; ++i) {
      const Index::Entry was = before.at(old.first + i);
      const auto now = after.child(both.second, was.name);
      if (!now || after.at(*now).id != was.id) {
        changes.names.push_back({directory.id, std::string(was.name)});
      } else if (was.directory) {
        open.emplace_back(was.position, *now);
      }
    }
    const auto fresh = after.children(both.second);
    for (std::uint32_t i = 0; i < fresh.count; ++i) {
      const Index::Entry now = after.at(fresh.first + i);
      if (!before.child(both.first, now.name)) {
        changes.names.push_back({directory.id, std::string(now.name)});
      }
    }
    if (changes.names.size() > known) changes.listings.push_back(directory.id);
  }
  return changes;
}

void add_everything(const Index& index, GenerationDiff& changes) {
  for (Index::Position at = 0; at < index.size(); ++at) {
    const Index::Entry entry = index.at(at);
    if (!entry.directory) continue;
    changes.listings.push_back(entry.id);
    const auto children = index.children(at);
    for (std::uint32_t i = 0; i < children.count; ++i) {
      changes.names.push_back({entry.id, std::string(index.at(children.first + i).name)});
    }
  }
}

}  // namespace paddle::engine::samplefs
