// SPDX-License-Identifier: Apache-2.0
//
// For tests: an index of files of one byte each.

#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/scratch.h"
#include "samplefs/index_builder.h"

namespace paddle::engine::samplefs {

inline std::shared_ptr<const ::paddle::samplefs::Index> index_of(
    const std::vector<std::string>& paths, const std::string& etag = "e") {
  const Scratch scratch;
  ::paddle::samplefs::IndexBuilder builder;
  for (const std::string& path : paths) {
    if (!builder.add({.path = path, .size = 1, .etag = etag})) std::abort();
  }
  if (!builder.write(scratch.path() + "/index", 1)) std::abort();
  return *::paddle::samplefs::Index::open(scratch.path() + "/index");
}

}  // namespace paddle::engine::samplefs
