// SPDX-License-Identifier: Apache-2.0
//
// Where a file of a set comes from: a source, and the directory of the set under which its objects
// appear. The empty Origin is the set's own source at the root. Pure.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddle::samplefs {

struct Origin {
  std::string uri{};          // without credentials; empty: the set's own source
  std::string server{};       // endpoint of the bucket, if it is not the set's own
  std::string destination{};  // empty, or a path of the set
  auto operator<=>(const Origin&) const = default;
};

// The same in every generation and every process; 0 for the set's own source at the root.
using OriginId = std::uint64_t;
OriginId id_of(const Origin& origin);

// Whether the path is beneath the directory; everything is beneath the root, "".
bool is_beneath(std::string_view path, std::string_view directory);
// The object's key at its source. REQUIRES: `path` is beneath `destination`.
std::string_view object_of(std::string_view path, std::string_view destination);
std::string path_of_object(std::string_view object, std::string_view destination);

}  // namespace paddle::samplefs
