// SPDX-License-Identifier: Apache-2.0
//
// Builds an index of everything that a source lists, for tests. An engine merges the listing with
// the previous generation (merge.h).

#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "samplefs/index.h"
#include "samplefs/index_builder.h"
#include "source/source.h"

namespace paddle::samplefs {

// On success `file` is the new generation; after a failure it is unchanged.
inline Result<std::shared_ptr<const Index>> sync_index(source::Source& source,
                                                       const std::string& file,
                                                       std::uint64_t generation,
                                                       std::stop_token stop) {
  IndexBuilder builder;
  TRY(const source::Listed listed,
      source.list([&](source::Object&& object) { return builder.add(object); }, std::move(stop)));
  builder.leave_out(listed.left_out);
  CHECK_DONE(builder.write(file, generation));
  return Index::open(file);
}

}  // namespace paddle::samplefs
