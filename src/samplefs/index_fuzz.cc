// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as an index file, with correct hashes so that later checks are reached: open()
// refuses it, or queries stay within it; and if verify() accepts it, every query works.
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
    if (header.version != paddle::samplefs::kFirstIndexVersion) {
      header.version = paddle::samplefs::kIndexVersion;
    }
    // A size that fits, so that later checks are reached.
    header.node_count = 1 + header.node_count % 8;
    const bool first = header.version == paddle::samplefs::kFirstIndexVersion;
    header.origins_size = first ? 0 : header.origins_size % 64;
    header.ledger_size = first ? 0 : header.ledger_size % 32;
    header.notes_size = first ? 0 : header.notes_size % 32;
    header.text_size = 0;
    const std::uint64_t rest = paddle::samplefs::IndexLayout(header).end;
    // One chunk: inputs are small.
    if (size < rest || size > paddle::samplefs::kIndexChunkSize) return 0;
    header.text_size = size - rest;
    header.file_size = size;
    std::memcpy(file.data(), &header, sizeof header);
    paddle::samplefs::seal_index(file.data(), file.size());
  }
  const auto index = Index::over(file);
  if (!index) return 0;
  const Index& tree = **index;
  for (Index::Position i = 0; i < tree.size(); ++i) {
    const auto entry = tree.at(i);
    (void)tree.find(entry.id);
    const std::string path = tree.path_of(i);
    (void)tree.resolve(path);
    if (entry.size > 0 && !entry.directory) (void)tree.block(entry, path, 0);
    const auto [first, count] = tree.children(i);
    if (first > tree.size() || count > tree.size() - first) std::abort();
  }
  if (!tree.verify()) return 0;
  for (Index::Position i = 0; i < tree.size(); ++i) {
    const auto entry = tree.at(i);
    if (tree.find(entry.id) != i) std::abort();
    if (tree.resolve(tree.path_of(i)) != i) std::abort();
    if (!entry.directory) {
      const std::string path = tree.path_of(i);
      const auto& origin = tree.origin(entry.origin);
      const auto object = paddle::samplefs::object_of(path, origin.destination);
      if (paddle::samplefs::path_of_object(object, origin.destination) != path) std::abort();
      if (entry.size > 0 && tree.block(entry, path, 0).object != object) std::abort();
    }
    const auto [first, count] = tree.children(i);
    for (Index::Position child = first; child < first + count; ++child) {
      if (tree.child(i, tree.at(child).name) != child) std::abort();
    }
  }
  for (const std::string& job : tree.ledger()) {
    if (!tree.was_made_by(job)) std::abort();
  }
  return 0;
}
