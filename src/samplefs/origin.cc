// SPDX-License-Identifier: Apache-2.0
#include "samplefs/origin.h"

#include <algorithm>

#include <xxhash.h>

namespace paddle::samplefs {

OriginId id_of(const Origin& origin) {
  if (origin == Origin{}) return 0;
  std::string text = origin.uri;
  text.append(1, '\0').append(origin.server).append(1, '\0').append(origin.destination);
  return std::max<OriginId>(XXH3_64bits(text.data(), text.size()), 1);
}

bool is_beneath(std::string_view path, std::string_view directory) {
  if (directory.empty()) return true;
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

std::string_view object_of(std::string_view path, std::string_view destination) {
  if (destination.empty() || !is_beneath(path, destination)) return path;
  return path.substr(destination.size() + 1);
}

std::string path_of_object(std::string_view object, std::string_view destination) {
  std::string path(destination);
  if (!path.empty()) path += '/';
  return path.append(object);
}

}  // namespace paddle::samplefs
