// SPDX-License-Identifier: Apache-2.0
//
// Deletion and what follows from it: finalizers, grace periods, and the garbage collector that
// removes, orphans or waits for dependents. Works on an ObjectStore under its keeper's lock.
//
// The collector acts at once when an owner goes (the real one some time later): a dependent is
// removed when none of its owners exists any more. A dependent created after its owner went stays
// until collect_dangling() is asked for, so that the keeper decides when that race is lost.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/options.h"
#include "kube/rules/object_store.h"

namespace paddle::kube {

class GarbageCollector {
 public:
  GarbageCollector(ObjectStore& store, bool collects) : store_(store), collects_(collects) {}

  Result<> remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                  WallTime now);
  // Stores an updated object, or removes it when it was only waiting for its finalizers.
  StoredObject put_or_release(const Resource& resource, Json object, FieldOwners owners,
                              WallTime now);
  // Removes those of the candidates that have owners, none of which exists.
  void collect_dangling(const std::vector<Located>& candidates, WallTime now);

 private:
  void erase(const Resource& resource, const ObjectKey& key, WallTime now);
  void remove_dependents(const std::string& uid, WallTime now);
  bool has_live_owner(const Json& object, const std::string& besides) const;
  void orphan_dependents(const std::string& uid);
  void release_if_waiting(const std::string& uid, WallTime now);

  ObjectStore& store_;
  const bool collects_;
  // Objects that went and whose dependents and owners have not been told: a list, not a recursion,
  // so that a long chain of owners needs no deep stack.
  std::deque<StoredObject> gone_{};
  bool telling_ = false;
};

}  // namespace paddle::kube
