// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/state/managed_fields.h"

#include <optional>

#include "kube/wire/value_scanner.h"

namespace paddle::kube {
namespace {

void skip_space(std::string_view& rest) {
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
}

bool take(std::string_view& rest, char wanted) {
  skip_space(rest);
  if (rest.empty() || rest.front() != wanted) return false;
  rest.remove_prefix(1);
  return true;
}

std::optional<std::string_view> take_value(std::string_view& rest) {
  skip_space(rest);
  ValueScanner scanner;
  const auto size = scanner.feed(rest);
  if (!size || *size == 0) return std::nullopt;
  const std::string_view value = rest.substr(0, *size);
  rest.remove_prefix(*size);
  return value;
}

// The value of `key` (with its quotes) in an object; empty when there is none.
std::optional<std::string_view> member(std::string_view object, std::string_view key) {
  if (!take(object, '{')) return std::nullopt;
  do {
    const auto name = take_value(object);
    if (!name || !take(object, ':')) return std::nullopt;
    const auto value = take_value(object);
    if (!value) return std::nullopt;
    if (*name == key) return value;
  } while (take(object, ','));
  return std::nullopt;
}

}  // namespace

std::string_view without_managed_fields(std::string_view object, std::string& room) {
  const auto metadata = member(object, "\"metadata\"");
  if (!metadata) return object;
  const auto managers = member(*metadata, "\"managedFields\"");
  if (!managers || !managers->starts_with('[') || !managers->ends_with(']')) return object;
  const auto begin = static_cast<size_t>(managers->data() - object.data());
  room.assign(object.substr(0, begin));
  room += "[]";
  room += object.substr(begin + managers->size());
  return room;
}

}  // namespace paddle::kube
