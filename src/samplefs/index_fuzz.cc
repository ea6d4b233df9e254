// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an index file, with hashes made right so that the checks behind them are reached: it
// is refused, or every question about it can be asked.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "samplefs/index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using paddle::samplefs::Index;
  std::vector<std::byte> file(size);
  if (size > 0) std::memcpy(file.data(), data, size);
  if (size >= sizeof(paddle::samplefs::IndexHeader)) {
    paddle::samplefs::IndexHeader header;
    std::memcpy(&header, file.data(), sizeof header);
    std::memcpy(header.magic, paddle::samplefs::kIndexMagic, sizeof header.magic);
    header.version = paddle::samplefs::kIndexVersion;
    header.file_size = size;
    std::memcpy(file.data(), &header, sizeof header);
    paddle::samplefs::seal_index(file.data(), file.size());
  }
  const auto index = Index::over(file);
  if (!index) return 0;
  const Index& tree = **index;
  for (Index::Position i = 0; i < tree.size(); ++i) {
    const auto entry = tree.at(i);
    if (tree.find(entry.id) != i) std::abort();
    if (tree.resolve(tree.path_of(i)) != i) std::abort();
    const auto [first, count] = tree.children(i);
    for (Index::Position child = first; child < first + count; ++child) {
      if (tree.child(i, tree.at(child).name) != child) std::abort();
    }
  }
  return 0;
}
