// SPDX-License-Identifier: Apache-2.0
//
// From a source to an index of all that it lists, for tests. What an engine publishes is more: it
// rests on the generation before (merge.h).

#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "samplefs/index.h"
#include "samplefs/index_builder.h"
#include "source/source.h"

namespace paddle::samplefs {

// `file` holds the new generation when this returns one, and the old one (if any) when it fails.
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
