// SPDX-License-Identifier: Apache-2.0
//
// The write verbs of the API over Storage: each call is one durable transaction in which the object
// is read, changed by kube/rules, validated and stored, together with the consequences (garbage
// collection, removal of a namespace). Thread-safe.
//
// Namespaces must exist, as on a real server. Deleting a namespace deletes its objects; it is gone
// when the last of them is. Default namespaces cannot be deleted.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "kube/cluster.h"
#include "kube/rules/selector.h"
#include "local/api_server/kinds.h"
#include "local/api_server/reply.h"
#include "local/api_server/storage.h"

namespace paddle::local {

enum class FieldValidation { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  std::string field_manager{};
  bool force = false;
};

// Further contents of the reply.
struct ResponseNotes {
  std::vector<std::string> warnings{};
  std::vector<Cause> causes{};
  bool bad_request = false;  // 400 instead of what the error's code means
  bool created = false;
};

enum class PatchStyle { kMerge, kJson, kStrategic, kApply };

class Writer {
 public:
  Writer(Storage& storage, const Clock& clock, Random& random)
      : storage_(storage), clock_(clock), random_(random) {}

  Result<api::Json> create(const Kind& kind, const std::string& ns, api::Json object,
                           const WriteOptions& options, ResponseNotes& notes);
  Result<api::Json> update(const Kind& kind, const api::ObjectKey& key, api::Json object,
                           const std::string& subresource, const WriteOptions& options,
                           ResponseNotes& notes);
  Result<api::Json> patch(const Kind& kind, const api::ObjectKey& key, PatchStyle style,
                          const api::Json& body, const std::string& subresource,
                          const WriteOptions& options, ResponseNotes& notes);
  // The last state of the object; `gone`: it was removed at once.
  struct Removed {
    api::Json last;
    bool gone = false;
  };
  Result<Removed> remove(const Kind& kind, const api::ObjectKey& key,
                         const kube::DeleteOptions& options, bool dry_run);
  // Removes all objects that the selector matches; returns their last states.
  Result<std::vector<api::Json>> remove_all(const Kind& kind, const std::string& ns,
                                            const kube::Selector& selector,
                                            const kube::DeleteOptions& options, bool dry_run);
  // POST pods/x/binding: assigns the pod to a node, once.
  Result<> bind(const api::ObjectKey& pod, const api::Json& binding, const WriteOptions& options);

  // Creates the namespaces that every cluster has. Call it at each start.
  Result<> create_default_namespaces();
  // Removes dependents whose owners are gone, and events that were not updated for an hour.
  Result<> collect_garbage();

 private:
  Result<api::Json> create_in(Transaction& transaction, const Kind& kind, api::Json object,
                              kube::FieldOwners owners, const WriteOptions& options,
                              ResponseNotes& notes);
  Result<api::Json> write_in(Transaction& transaction, const Kind& kind, const kube::Record& old,
                             api::Json incoming, const std::string& subresource,
                             const kube::FieldOwners* owners, const WriteOptions& options,
                             ResponseNotes& notes);
  Result<api::Json> apply_in(Transaction& transaction, const Kind& kind, const api::ObjectKey& key,
                             const api::Json& body, const std::string& subresource,
                             const WriteOptions& options, ResponseNotes& notes);
  Result<> remove_in(Transaction& transaction, const Kind& kind, const api::ObjectKey& key,
                     const kube::DeleteOptions& options);
  Result<> write(bool dry_run, const Storage::Body& body);

  Storage& storage_;
  const Clock& clock_;
  Random& random_;
};

}  // namespace paddle::local
