// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/file_selection.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Index;

// A directory's name with its slash: sorts names in the order of whole paths.
std::string key_of(const Index& index, Index::Position at) {
  const auto entry = index.at(at);
  return std::string(entry.name) + (entry.directory ? "/" : "");
}

// Files at and beneath `from`, in the order of their paths.
void gather(const Index& index, Index::Position from, std::vector<Index::Position>& files) {
  std::vector<Index::Position> open{from};
  std::vector<std::pair<std::string, Index::Position>> names;
  while (!open.empty()) {
    const Index::Position at = open.back();
    open.pop_back();
    if (!index.at(at).directory) {
      files.push_back(at);
      continue;
    }
    names.clear();
    const auto children = index.children(at);
    for (std::uint32_t i = 0; i < children.count; ++i) {
      names.emplace_back(key_of(index, children.first + i), children.first + i);
    }
    std::sort(names.rbegin(), names.rend());  // the last one pushed is taken first
    for (const auto& [name, position] : names) open.push_back(position);
  }
}

// The roots to gather files from, in the order of paths.
Result<std::map<std::string, Index::Position>> roots_of(const Index& index,
                                                        const std::vector<std::string>& paths) {
  std::map<std::string, Index::Position> roots;
  for (std::string path : paths) {
    while (path.ends_with('/')) path.pop_back();
    const auto position = index.resolve(path);
    if (!position) {
      return Error{Code::kNotFound, "the set has no '" + path + "'; sync it or correct the path"};
    }
    roots.emplace(path + (index.at(*position).directory ? "/" : ""), *position);
  }
  if (paths.empty()) roots.emplace("", Index::kRoot);
  return roots;
}

std::vector<Index::Position> part_of(const std::vector<Index::Position>& files,
                                     const Selection& which) {
  const auto count = static_cast<std::uint32_t>(files.size());
  std::vector<Index::Position> part;
  for (const auto i : sampler::part_of(count, which.partition, which.partitions, which.strategy)) {
    part.push_back(files[i]);
  }
  return part;
}

}  // namespace

Result<std::vector<Index::Position>> select_files(const Index& index, const Selection& which) {
  TRY(const auto roots, roots_of(index, which.paths));
  std::vector<Index::Position> files;
  for (const auto& [path, position] : roots) gather(index, position, files);
  if (roots.size() > 1) {  // one may be beneath another
    std::set<Index::Position> seen;
    std::erase_if(files, [&](Index::Position at) { return !seen.insert(at).second; });
  }
  return part_of(files, which);
}

Result<std::vector<Index::Position>> select_listed(const Index& index, std::string_view list,
                                                   const Selection& which) {
  std::vector<Index::Position> files;
  std::set<Index::Position> seen;
  while (!list.empty()) {
    std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    const auto position = index.resolve(line);
    if (!position) {
      return Error{Code::kNotFound, "the set has no '" + std::string(line.substr(0, 200)) +
                                        "', which the list names; sync it or correct the list"};
    }
    std::vector<Index::Position> beneath;
    gather(index, *position, beneath);
    for (const Index::Position at : beneath) {
      if (seen.insert(at).second) files.push_back(at);
    }
  }
  return part_of(files, which);
}

}  // namespace paddle::engine::samplefs
