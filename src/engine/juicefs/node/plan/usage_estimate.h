// SPDX-License-Identifier: Apache-2.0
//
// What to report about a cache between two looks at it. Pure. usage_poller.h looks.

#pragma once

#include <chrono>
#include <cstdint>

#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// The space of a cache of at most `limit` bytes that holds `held`: the runtime has no view of the
// node's disks. A client may cache less, when its disk has no room.
void update_space(Status& status, std::int64_t limit, std::int64_t held);

// `last`, seen when the client answered last, `silent` ago. A client that has been silent for too
// long counts as hanging: nothing is served.
Status shown(Status last, std::chrono::nanoseconds silent);

// Bytes of blocks that a client has cached, from its own count, which adds a page to each.
std::int64_t payload(double blocks, double bytes);

// `last`, seen when the cache held `before` bytes, for a cache that holds `now` bytes. Growth is
// credited to the part that was warmed up last only while that part is being filled.
Status followed(Status last, std::int64_t before, std::int64_t now, bool filling);

// Whether the cache of a whole volume is checked file by file, or only the node's own part of it:
// every check walks the metadata of its files, and all nodes of a large set would do so at once.
bool checks_whole(std::int64_t files, std::int64_t part_files);

// Cached bytes of a volume of which only the own part was checked. `held`: the bytes in the
// client's cache, which may also be of files that no longer exist: they never count as the whole
// volume.
std::int64_t cached_of_whole(std::int64_t volume_bytes, std::int64_t part_cached,
                             std::int64_t held);

}  // namespace paddle::engine::juicefs
