// SPDX-License-Identifier: Apache-2.0
//
// What every Kubernetes object has: its key, and the part of the metadata that we read or write.
// Plain values; every field has a default, so that callers name only what they set.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"
#include "base/result.h"

namespace paddle::api {

// Namespace (empty for cluster-scoped objects) and name.
struct ObjectKey {
  std::string ns{};
  std::string name{};
  auto operator<=>(const ObjectKey&) const = default;
};
std::string to_string(const ObjectKey& key);  // "ns/name", or "name" when cluster-scoped

struct OwnerReference {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  std::string uid{};
  bool controller = false;
  bool block_owner_deletion = false;
  bool operator==(const OwnerReference&) const = default;
};

struct Meta {
  ObjectKey key{};
  std::string uid{};
  std::string resource_version{};
  std::int64_t generation = 0;
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> annotations{};
  std::vector<std::string> finalizers{};
  std::vector<OwnerReference> owners{};
  std::optional<WallTime> created{};
  std::optional<WallTime> deleted{};  // deletionTimestamp: it is being deleted
  bool operator==(const Meta&) const = default;

  bool deleting() const { return deleted.has_value(); }
  const OwnerReference* controller() const;  // the owner with controller: true, or null
};

std::string annotation(const Meta& meta, const char* name);  // empty when there is none

// Reads object["metadata"]. kInvalid when a field has the wrong type; unknown fields are ignored
// (they stay in the object itself, which writers edit).
Result<Meta> decode_meta(const Json& object);

// The metadata for a create: key, labels, annotations, finalizers and owners; without what the
// server fills in (uid, resourceVersion, times).
Json encode_meta(const Meta& meta);

}  // namespace paddle::api
