// SPDX-License-Identifier: Apache-2.0
//
// The storage that the rules of the API server work on: FakeStorage in memory, SQLite in the
// embedded server. Not thread-safe: the owner locks it.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "kube/resource.h"
#include "kube/rules/server_side_apply.h"

namespace paddle::kube {

using StoredObject = std::shared_ptr<const api::Json>;

struct Record {
  StoredObject object{};
  FieldOwners owners{};
};

// The place of an object.
struct Located {
  Resource resource{};
  api::ObjectKey key{};
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual std::optional<Record> read(const Resource& resource, const api::ObjectKey& key) const = 0;
  // Assigns the next version and records the change. The metadata of the object has its key.
  virtual StoredObject put(const Resource& resource, api::Json object, FieldOwners owners) = 0;
  virtual void erase(const Resource& resource, const api::ObjectKey& key) = 0;

  // Objects that have this uid in their ownerReferences, and the object that it belongs to.
  virtual std::vector<Located> dependents_of(const std::string& uid) const = 0;
  virtual std::optional<Located> find_uid(const std::string& uid) const = 0;
};

}  // namespace paddle::kube
