// SPDX-License-Identifier: Apache-2.0
//
// Divides the keys of a bucket into parts that can be listed at the same time, without knowing
// them: by a few probes for the first key after a text. It finds what the keys have in common, then
// the characters that follow it, then the same beneath each of those, until there are enough parts.
//
// Any division is right: parts are given by their borders, every key is in one of them, and a
// border that is chosen badly makes parts of unequal size. Keys are in the order of their bytes.
// Pure.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::source {

// The first key greater than `after`; nothing when there is none.
using NextKey = std::function<Result<std::optional<std::string>>(const std::string& after)>;

// Borders between parts of the keys greater than `after`, rising: a part is what is greater than
// one border and not greater than the next. Fewer than `parts` of them, and at most `probes` calls.
Result<std::vector<std::string>> split_keys(const std::string& after, std::size_t parts,
                                            std::size_t probes, const NextKey& next_key);

}  // namespace paddle::source
