// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/stale_files.h"

#include "samplefs/origin.h"

namespace paddle::engine::samplefs {

using ::paddle::samplefs::Index;

Result<std::vector<Index::Position>> stale_files(const Index& index,
                                                 const std::vector<bool>& wanted,
                                                 SourceSet& sources, const std::stop_token& stop) {
  std::vector<bool> is_listed(index.origins());
  for (Index::Position at = 0; at < index.size(); ++at) {
    if (wanted[at]) is_listed[index.at(at).origin] = true;
  }
  std::vector<bool> current(index.size());
  for (std::uint32_t origin = 0; origin < index.origins(); ++origin) {
    if (!is_listed[origin]) continue;
    TRY(const auto source, sources.reader(index.origin_id(origin)));
    const std::string& destination = index.origin(origin).destination;
    const auto compare = [&](source::Object&& object) -> Result<> {
      const auto at = index.resolve(::paddle::samplefs::path_of_object(object.path, destination));
      if (!at) return Done{};  // the next sync adds it
      const Index::Entry entry = index.at(*at);
      if (entry.origin == origin && entry.etag == object.etag && entry.size == object.size) {
        current[*at] = true;
      }
      return Done{};
    };
    CHECK_DONE(source->list(compare, stop));
  }
  std::vector<Index::Position> stale;
  for (Index::Position at = 0; at < index.size(); ++at) {
    if (wanted[at] && !current[at]) stale.push_back(at);
  }
  return stale;
}

}  // namespace paddle::engine::samplefs
