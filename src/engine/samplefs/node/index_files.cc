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

Result<IndexFiles::Opened> IndexFiles::open() const {
  Opened opened;
  for (const std::uint64_t generation : generations()) {
    opened.latest = generation;
    opened.damage.clear();
    auto index = Index::open(file(generation));
    if (index && (*index)->generation() == generation) {
      opened.indexes.push_back(*std::move(index));
      continue;
    }
    const std::string reason =
        index ? "the index file is of another generation" : index.error().message;
    log::error("an index cannot be used", {{"file", file(generation)}, {"reason", reason}});
    opened.damage = "the index of generation " + std::to_string(generation) + " cannot be used (" +
                    reason + ")";
  }
  if (opened.indexes.empty()) {
    ::paddle::samplefs::IndexBuilder nothing;
    CHECK_DONE(nothing.write(file(0), 0));
    TRY(IndexPtr index, Index::open(file(0)));
    opened.indexes.push_back(std::move(index));
  }
  if (!opened.damage.empty()) {
    opened.damage += "; generation " + std::to_string(opened.indexes.back()->generation()) +
                     " is shown until the next sync: run a SampleJob of type sync";
  }
  return opened;
}

void IndexFiles::prune(std::uint64_t latest, std::uint64_t before) const {
  for (const std::uint64_t generation : generations()) {
    if (generation < latest && generation != before) ::unlink(file(generation).c_str());
  }
}

}  // namespace paddle::engine::samplefs
