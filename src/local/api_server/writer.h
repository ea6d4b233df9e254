// SPDX-License-Identifier: Apache-2.0
//
// The writing verbs of the API over Storage: each call is one durable transaction in which the
// object is read, changed by the rules of kube/rules, validated and stored, together with whatever
// follows from it (garbage collection, the end of a namespace). Thread-safe.
//
// Namespaces must exist, as on a real server. A deleted namespace takes its objects with it and is
// gone when the last one is; `default` and the like can not be deleted.

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

// What the reply says besides the outcome.
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
  // The object as it was last seen; `gone` tells whether it is.
  struct Removed {
    api::Json last;
    bool gone = false;
  };
  Result<Removed> remove(const Kind& kind, const api::ObjectKey& key,
                         const kube::DeleteOptions& options, bool dry_run);
  // Everything that the selector matches, as it was before.
  Result<std::vector<api::Json>> remove_all(const Kind& kind, const std::string& ns,
                                            const kube::Selector& selector,
                                            const kube::DeleteOptions& options, bool dry_run);
  // POST pods/x/binding: puts the pod on a node, once.
  Result<> bind(const api::ObjectKey& pod, const api::Json& binding, const WriteOptions& options);

  // Makes the namespaces that every cluster has. For each start.
  Result<> create_default_namespaces();
  // Removes dependents whose owners are gone, and events nobody has touched for an hour.
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
