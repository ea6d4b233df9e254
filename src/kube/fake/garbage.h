// SPDX-License-Identifier: Apache-2.0
//
// Deletion and what follows from it: finalizers, grace periods, and the garbage collector that
// removes, orphans or waits for dependents. Works on FakeStorage under its owner's lock.
//
// The collector acts at once when an owner goes (the real one some time later): a dependent is
// removed when none of its owners exists any more. A dependent created after its owner went stays
// until collect_dangling() is asked for, so that tests decide when that race is lost.

#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "kube/cluster.h"
#include "kube/fake/storage.h"

namespace paddle::kube {

class Garbage {
 public:
  Garbage(FakeStorage& storage, bool collects) : storage_(storage), collects_(collects) {}

  Result<> remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                  WallTime now);
  // Stores an updated object, or removes it when it was only waiting for its finalizers.
  StoredObject put_or_release(const Resource& resource, Json object, FieldOwners owners,
                              WallTime now);
  void collect_dangling(WallTime now);

 private:
  struct Found {
    Resource resource{};
    ObjectKey key{};
  };
  void erase(const Resource& resource, const ObjectKey& key, WallTime now);
  std::vector<Found> dependents_of(const std::string& uid) const;
  bool has_live_owner(const Json& object, const std::string& besides) const;
  bool exists(const std::string& uid) const;
  void orphan_dependents(const std::string& uid);
  void finish_foreground(WallTime now);

  FakeStorage& storage_;
  const bool collects_;
};

}  // namespace paddle::kube
