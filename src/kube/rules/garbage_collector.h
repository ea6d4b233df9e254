// SPDX-License-Identifier: Apache-2.0
//
// Deletion and its consequences: finalizers, grace periods, and the garbage collector, which
// removes, orphans or waits for dependents. Works on an ObjectStore; the owner of the store locks
// it.
//
// The collector acts immediately when an owner is removed (the real one acts later): a dependent is
// removed when none of its owners exists any more. A dependent that was created after the removal
// of its owner stays until collect_dangling() is called, so that the caller decides when that race
// ends.

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
  // Removes the candidates that have owners none of which exists.
  void collect_dangling(const std::vector<Located>& candidates, WallTime now);

 private:
  void erase(const Resource& resource, const ObjectKey& key, WallTime now);
  void remove_dependents(const std::string& uid, WallTime now);
  bool has_live_owner(const Json& object, const std::string& besides) const;
  void orphan_dependents(const std::string& uid);
  void release_if_waiting(const std::string& uid, WallTime now);

  ObjectStore& store_;
  const bool collects_;
  // Removed objects whose dependents and owners have not been processed: a queue, not a recursion,
  // so that a long chain of owners needs no deep stack.
  std::deque<StoredObject> removed_{};
  bool processing_ = false;
};

}  // namespace paddle::kube
