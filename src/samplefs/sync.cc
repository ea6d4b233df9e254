// SPDX-License-Identifier: Apache-2.0
#include "samplefs/sync.h"

#include "samplefs/index_builder.h"

namespace paddle::samplefs {

Result<std::shared_ptr<const Index>> sync_index(source::Source& source, const std::string& file,
                                                std::uint64_t generation, std::stop_token stop) {
  {
    IndexBuilder builder;
    TRY(const source::Listed listed,
        source.list([&](source::Object&& object) { return builder.add(object); }, std::move(stop)));
    builder.leave_out(listed.left_out);
    CHECK_DONE(builder.write(file, generation));
  }
  return Index::open(file);
}

}  // namespace paddle::samplefs
