// SPDX-License-Identifier: Apache-2.0
//
// The writes that every controller makes to the object that it reconciles and to what it owns. Each
// call may be repeated: an object that is gone counts as done. Borrows cluster and events.
// Thread-safe.

#pragma once

#include <optional>
#include <string>

#include "api/core/meta.h"
#include "controllers/plan/plan.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers {

class ObjectWriter {
 public:
  ObjectWriter(kube::Cluster& cluster, kube::EventRecorder& events)
      : cluster_(cluster), events_(events) {}

  // These two return the stored object, for the caller's store to acknowledge; nothing when the
  // object is gone. kConflict: it has changed since it was read.
  Result<std::optional<api::Json>> write_status(const kube::Resource& resource,
                                                const api::Json& object, const kube::Call& call);
  // Nothing also for an object that is being deleted: this may have been its last finalizer.
  Result<std::optional<api::Json>> remove_finalizer(const kube::Resource& resource,
                                                    const api::Meta& meta,
                                                    const std::string& finalizer,
                                                    const kube::Call& call);
  // Only the object with this uid; a namesake that took its place counts as gone, too.
  Result<> remove(const kube::Resource& resource, const api::ObjectKey& key, const std::string& uid,
                  const kube::Call& call);

  void emit(const kube::Resource& resource, const api::Meta& meta, const EmitEvent& event);

 private:
  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
};

}  // namespace paddle::controllers
