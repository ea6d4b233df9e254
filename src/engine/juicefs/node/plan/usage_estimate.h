// SPDX-License-Identifier: Apache-2.0
//
// What to report about a cache between two looks at it. Pure. usage_poller.h looks.

#pragma once

#include <chrono>
#include <cstdint>

#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// `last`, seen when the client answered last, `silent` ago. A client that has been silent for too
// long counts as hanging: nothing is served.
Status shown(Status last, std::chrono::nanoseconds silent);

// Bytes of blocks that a client has cached, from its own count, which adds a page to each.
std::int64_t payload(double blocks, double bytes);

// `last`, seen when the cache held `before` bytes, for a cache that holds `now` bytes. Growth is
// credited to the part that was warmed up last only while that part is being filled.
Status followed(Status last, std::int64_t before, std::int64_t now, bool filling);

}  // namespace paddle::engine::juicefs
