// SPDX-License-Identifier: Apache-2.0
//
// What the rules of the API server need from whoever keeps the objects: FakeStorage in memory, the
// embedded server in SQLite. Not thread-safe: the keeper locks.

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

// Where an object is.
struct Located {
  Resource resource{};
  api::ObjectKey key{};
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual std::optional<Record> read(const Resource& resource, const api::ObjectKey& key) const = 0;
  // Stamps the next version and records the change. The object's metadata is its key.
  virtual StoredObject put(const Resource& resource, api::Json object, FieldOwners owners) = 0;
  virtual void erase(const Resource& resource, const api::ObjectKey& key) = 0;

  // Objects that name this uid in their ownerReferences, and the object that has it.
  virtual std::vector<Located> dependents_of(const std::string& uid) const = 0;
  virtual std::optional<Located> find_uid(const std::string& uid) const = 0;
};

}  // namespace paddle::kube
