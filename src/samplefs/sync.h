// SPDX-License-Identifier: Apache-2.0
//
// From a source to a published index: list, build, write, open.

#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "samplefs/index.h"
#include "source/source.h"

namespace paddle::samplefs {

// `file` holds the new generation when this returns one, and the old one (if any) when it fails.
Result<std::shared_ptr<const Index>> sync_index(source::Source& source, const std::string& file,
                                                std::uint64_t generation, std::stop_token stop);

}  // namespace paddle::samplefs
