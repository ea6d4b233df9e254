// SPDX-License-Identifier: Apache-2.0
//
// Lists of paths: the part of one partition, and their text. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// Of files, the part that the sampler gives to `partition` of which.partitions.
std::vector<std::string> part_of_list(const std::vector<std::string>& files, const Selection& which,
                                      std::int32_t partition);

// A path per line, and back. Empty lines and carriage returns at the end of a line are dropped.
std::string to_text(const std::vector<std::string>& paths);
std::vector<std::string> from_text(const std::string& text);

}  // namespace paddle::engine::juicefs
