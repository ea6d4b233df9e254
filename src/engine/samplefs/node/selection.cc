// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/selection.h"

#include <algorithm>

#include "samplefs/filler.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Index;

void gather(const Index& index, Index::Position from, std::vector<Index::Position>& files) {
  std::vector<Index::Position> open{from};
  while (!open.empty()) {
    const Index::Position at = open.back();
    open.pop_back();
    if (!index.at(at).directory) {
      files.push_back(at);
      continue;
    }
    const auto children = index.children(at);
    for (std::uint32_t i = 0; i < children.count; ++i) open.push_back(children.first + i);
  }
}

}  // namespace

Result<std::vector<Index::Position>> select_files(const Index& index, const Selection& which) {
  std::vector<Index::Position> files;
  if (which.paths.empty()) files = ::paddle::samplefs::all_files(index);
  for (std::string path : which.paths) {
    while (path.ends_with('/')) path.pop_back();
    const auto position = index.resolve(path);
    if (!position) {
      return Error{Code::kNotFound, "the set has no '" + path + "'; sync it or correct the path"};
    }
    gather(index, *position, files);
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  if (which.partitions <= 1) return files;
  std::vector<Index::Position> part;
  for (std::size_t i = static_cast<std::size_t>(which.partition); i < files.size();
       i += static_cast<std::size_t>(which.partitions)) {
    part.push_back(files[i]);
  }
  return part;
}

}  // namespace paddle::engine::samplefs
