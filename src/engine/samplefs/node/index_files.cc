// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/index_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <unistd.h>

#include "base/log.h"
#include "samplefs/index_builder.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Index;
constexpr std::string_view kPrefix = "index.";

}  // namespace

std::string IndexFiles::file(std::uint64_t generation) const {
  return directory_ + "/" + std::string(kPrefix) + std::to_string(generation);
}

std::vector<std::uint64_t> IndexFiles::generations() const {
  std::vector<std::uint64_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    std::uint64_t generation = 0;
    const char* end = name.data() + name.size();
    const auto [after, failed] = std::from_chars(name.data() + kPrefix.size(), end, generation);
    if (failed == std::errc{} && after == end) found.push_back(generation);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<IndexPtr>> IndexFiles::open() const {
  std::vector<IndexPtr> indices;
  for (const std::uint64_t generation : generations()) {
    auto index = Index::open(file(generation));
    if (index && (*index)->generation() == generation) {
      indices.push_back(*std::move(index));
      continue;
    }
    log::error("skipped an index that cannot be used",
               {{"file", file(generation)},
                {"reason", index ? "another generation" : index.error().message}});
  }
  if (indices.empty()) {
    ::paddle::samplefs::IndexBuilder nothing;
    CHECK_DONE(nothing.write(file(0), 0));
    TRY(IndexPtr index, Index::open(file(0)));
    indices.push_back(std::move(index));
  }
  return indices;
}

void IndexFiles::prune(std::uint64_t latest) const {
  std::vector<std::uint64_t> old = generations();
  std::erase_if(old, [&](std::uint64_t generation) { return generation >= latest; });
  if (!old.empty()) old.pop_back();
  for (const std::uint64_t generation : old) ::unlink(file(generation).c_str());
}

}  // namespace paddle::engine::samplefs
