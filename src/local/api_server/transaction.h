// SPDX-License-Identifier: Apache-2.0
//
// A write transaction: reads see its own writes. A failure of the database is recorded and fails
// the whole transaction at its end, so that callers need not check every step. Used by one thread,
// only inside Storage::write().

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/cluster.h"
#include "kube/rules/object_store.h"
#include "local/api_server/sqlite.h"

namespace paddle::local {

// "group/plural": API versions of a kind share their objects.
std::string collection_of(const kube::Resource& resource);

class Transaction final : public kube::ObjectStore {
 public:
  Transaction(Database& database, std::uint64_t revision)
      : database_(database), revision_(revision) {}

  std::optional<kube::Record> read(const kube::Resource& resource,
                                   const api::ObjectKey& key) const override;
  kube::StoredObject put(const kube::Resource& resource, api::Json object,
                         kube::FieldOwners owners) override;
  void erase(const kube::Resource& resource, const api::ObjectKey& key) override;
  std::vector<kube::Located> dependents_of(const std::string& uid) const override;
  std::optional<kube::Located> find_uid(const std::string& uid) const override;

  // Every object of the namespace, whatever its kind.
  std::vector<kube::Located> in_namespace(const std::string& ns) const;
  // The objects of one collection, in one namespace or in all.
  std::vector<kube::Located> in_collection(const std::string& collection,
                                           const std::string& ns) const;

  // Objects that name owners which do not exist.
  std::vector<kube::Located> dangling() const;
  // Namespaces from which objects were deleted, or that were changed, since the last call.
  std::set<std::string> take_shrunk_namespaces();

  std::uint64_t revision() const { return revision_; }
  const std::set<std::string>& changed() const { return changed_; }
  // The first failure of the database, or Done.
  Result<> outcome() const;

 private:
  void note(Result<> done) const;
  void record(const std::string& collection, const api::ObjectKey& key, kube::EventType type,
              const std::string& body, const std::string* before);

  Database& database_;
  std::uint64_t revision_;
  std::set<std::string> changed_{};
  std::set<std::string> shrunk_namespaces_{};
  mutable std::optional<Error> failure_{};
};

}  // namespace paddle::local
