// SPDX-License-Identifier: Apache-2.0
//
// Where a file of a set came from: a source, and the directory of the set that its objects are
// beneath. The set's own source at the root is the empty one. Pure.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddle::samplefs {

struct Origin {
  std::string uri{};          // without credentials; empty: the set's own source
  std::string server{};       // whose bucket that is, where it is not the set's own server
  std::string destination{};  // empty, or a path of the set
  auto operator<=>(const Origin&) const = default;
};

// The same in every generation and every process; 0 for the set's own source at the root.
using OriginId = std::uint64_t;
OriginId id_of(const Origin& origin);

// Whether the path is beneath the directory; everything is beneath the root, "".
bool is_beneath(std::string_view path, std::string_view directory);
// What the object at this path of the set is called at its source. REQUIRES: it is beneath.
std::string_view object_of(std::string_view path, std::string_view destination);
std::string path_of_object(std::string_view object, std::string_view destination);

}  // namespace paddle::samplefs
